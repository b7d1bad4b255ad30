/** Calls to the API, typed by its own description. Every failure is a `Problem`; nothing is swallowed. */
import { type Operations, routes } from "./api";
import { session, store, waiting } from "./state";

export class Problem extends Error {
  constructor(
    readonly code: string,
    readonly detail: string,
    readonly hint = "",
    readonly status = 0,
  ) {
    super(detail);
  }
}

type Given<N extends keyof Operations> = {
  path?: Operations[N]["path"];
  query?: Omit<Operations[N]["query"], "store">;
  body?: Operations[N]["body"];
  revision?: number;
  signal?: AbortSignal;
};

/** Where an operation is, with its query. Empty values are left out. */
export function address(path: string, query: Record<string, unknown> = {}): string {
  const words = new URLSearchParams();
  for (const [name, value] of Object.entries(query)) {
    for (const one of Array.isArray(value) ? value : [value]) {
      if (one !== undefined && one !== null && one !== "") words.append(name, String(one));
    }
  }
  const text = words.toString();
  return text ? `${path}?${text}` : path;
}

export async function call<N extends keyof Operations>(
  name: N,
  given: Given<N> = {},
): Promise<Operations[N]["answer"]> {
  const [method, template] = routes[name];
  const path = template.replace(/\{(\w+)\}/g, (_, part: string) =>
    encodeURIComponent(String((given.path as Record<string, string> | undefined)?.[part] ?? "")),
  );
  const query = { ...(store.value === "personal" ? { store: "personal" } : {}), ...given.query };
  const headers: Record<string, string> = {};
  if (given.body !== undefined) headers["Content-Type"] = "application/json";
  if (given.revision !== undefined) headers["If-Match"] = `"${given.revision}"`;
  return send(method, address(path, query), headers, given.body, given.signal);
}

const SLOW_MS = 1_500; // after which a request is a wait that is told

/** One request. A server that is gone is the problem `offline`; one that takes long is told as waiting. */
export async function send<T>(
  method: string,
  url: string,
  headers: Record<string, string> = {},
  body?: unknown,
  signal?: AbortSignal,
): Promise<T> {
  let answer: Response;
  let isSlow = false;
  const timer = window.setTimeout(() => {
    isSlow = true;
    waiting.value += 1;
  }, SLOW_MS);
  try {
    answer = await fetch(url, {
      method,
      headers,
      body: body === undefined ? undefined : JSON.stringify(body),
      signal,
      credentials: "same-origin",
    });
  } catch (error) {
    if (error instanceof DOMException && error.name === "AbortError") throw error;
    throw new Problem("offline", "The server is not responding.", "");
  } finally {
    window.clearTimeout(timer);
    if (isSlow) waiting.value -= 1;
  }
  if (answer.ok) return (answer.status === 204 ? undefined : await answer.json()) as T;
  throw await problemOf(answer);
}

async function problemOf(answer: Response): Promise<Problem> {
  if (answer.status === 401) session.value = "out";
  try {
    const told = await answer.json();
    return new Problem(String(told.code), String(told.detail), String(told.hint ?? ""), answer.status);
  } catch {
    return new Problem("unreadable", `${answer.status} ${answer.statusText}`, "", answer.status);
  }
}

/** Was a request only given up because a newer one took its place? */
export function isAborted(error: unknown): boolean {
  return error instanceof DOMException && error.name === "AbortError";
}

export function asProblem(error: unknown): Problem {
  return error instanceof Problem ? error : new Problem("panel", error instanceof Error ? error.message : String(error));
}
