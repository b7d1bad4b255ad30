/** Hooks that views share: loading with its three states, keys, and what a place allows. */
import { useCallback, useEffect, useRef, useState } from "preact/hooks";
import { asProblem, isAborted, type Problem } from "./client";
import { moved, session, store } from "./state";

export type Loaded<T> = { data: T | null; problem: Problem | null; loading: boolean; reload: () => void };

/** Load something, again whenever what it depends on or the store changes. What was there stays until the new is here. */
export function useLoad<T>(load: (signal: AbortSignal) => Promise<T>, deps: unknown[], options: { live?: boolean } = {}): Loaded<T> {
  const [data, setData] = useState<T | null>(null);
  const [problem, setProblem] = useState<Problem | null>(null);
  const [loading, setLoading] = useState(true);
  const [again, setAgain] = useState(0);
  const version = options.live === false ? 0 : moved.value;
  const key = JSON.stringify(deps);
  const last = useRef("");
  useEffect(() => {
    const control = new AbortController();
    const isNew = last.current !== key + store.value;
    last.current = key + store.value;
    if (isNew) setLoading(true);
    load(control.signal).then(
      (found) => {
        setData(found);
        setProblem(null);
        setLoading(false);
      },
      (error: unknown) => {
        if (isAborted(error)) return;
        setProblem(asProblem(error));
        setLoading(false);
      },
    );
    return () => control.abort();
  }, [key, version, again, store.value, session.value]);
  const reload = useCallback(() => setAgain((count) => count + 1), []);
  return { data, problem, loading, reload };
}

/** A value that follows another once it has rested. */
export function useRested<T>(value: T, ms: number): T {
  const [rested, setRested] = useState(value);
  useEffect(() => {
    const timer = window.setTimeout(() => setRested(value), ms);
    return () => window.clearTimeout(timer);
  }, [value, ms]);
  return rested;
}
