/** What a person can do to a memory. Each act says what happened and, where it can be taken back, offers that. */
import type { BatchResult, WholeMemory } from "./api";
import { asProblem, call, Problem } from "./client";
import { bump } from "./live";
import { tell } from "./state";
import { t, type Key } from "./words";

export type Act = "confirm" | "dispute" | "reject" | "pin" | "unpin";
export type BatchAct = Act | "forget";

const DONE: Record<BatchAct | "correct" | "edit", Key> = {
  confirm: "did.confirm",
  dispute: "did.dispute",
  reject: "did.reject",
  pin: "did.pin",
  unpin: "did.unpin",
  forget: "did.forget",
  correct: "did.correct",
  edit: "did.edit",
};

/** Run something that changes the store, or only reads it; trouble is told, never lost. True when it was done. */
export async function attempt(run: () => Promise<unknown>, { isReading = false } = {}): Promise<boolean> {
  try {
    await run();
    if (!isReading) bump();
    return true;
  } catch (error) {
    const problem = asProblem(error);
    const words = problem.code === "offline" ? t("problem.offline") : problem.detail;
    tell([words, problem.hint].filter(Boolean).join(" "), { bad: true });
    return false;
  }
}

/** Take back one's own last change, or the last one to a memory, if it is still at this revision. */
export async function undo(memory?: string, revision?: number): Promise<boolean> {
  return attempt(async () => {
    try {
      await call("undo_change", { body: memory === undefined ? {} : { memory }, revision });
    } catch (error) {
      throw refused(asProblem(error));
    }
    tell(t("did.undo"));
  });
}

/** Why something was not undone, in the person's language where it is a change that came in between. */
function refused(problem: Problem): Problem {
  const isChanged = problem.status === 412 || problem.detail.includes("changed again");
  return isChanged ? new Problem(problem.code, t("did.undo_refused"), "", problem.status) : problem;
}

export function act(name: Act, memory: WholeMemory): Promise<boolean> {
  return attempt(async () => {
    const { revision } = await call(`${name}_memory`, { path: { id: memory.id }, body: {}, revision: memory.revision });
    tell(t(DONE[name]), { undo: () => void undo(memory.id, revision) });
  });
}

export function forget(memory: WholeMemory): Promise<boolean> {
  return attempt(async () => {
    await call("forget_memory", { path: { id: memory.id }, revision: memory.revision });
    tell(t("did.forget"));
  });
}

/** One act on many memories; those it failed for are counted. */
export function actOnMany(name: BatchAct, ids: string[]): Promise<boolean> {
  return attempt(async () => {
    const { results } = await call("act_on_many", { body: { act: name, ids } });
    const failed = results.filter((one) => !one.ok);
    const done = results.filter((one) => one.ok);
    const undoAll = name === "forget" || done.length === 0 ? undefined : () => void undoMany(done);
    tell(t("did.many", { n: done.length, done: t(DONE[name]) }), { undo: undoAll });
    if (failed.length > 0) tell(t("did.many_failed", { n: failed.length, why: failed[0]?.detail ?? "" }), { bad: true });
  });
}

/** Take back one act on many: each memory that nobody changed since. */
function undoMany(done: BatchResult[]): Promise<boolean> {
  return attempt(async () => {
    let refusals = 0;
    for (const one of done) {
      try {
        await call("undo_change", { body: { memory: one.id }, revision: one.revision });
      } catch (error) {
        if (asProblem(error).code === "offline") throw error;
        refusals += 1;
      }
    }
    tell(t("did.undo_many", { n: done.length - refusals }));
    if (refusals > 0) tell(t("did.undo_many_refused", { n: refusals }), { bad: true });
  });
}

export function toldDone(name: keyof typeof DONE, memory: string, revision: number): void {
  tell(t(DONE[name]), { undo: () => void undo(memory, revision) });
  bump();
}
