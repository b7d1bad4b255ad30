/** What a person can do to a memory. Each act says what happened and, where it can be taken back, offers that. */
import type { WholeMemory } from "./api";
import { asProblem, call } from "./client";
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

/** Run something that changes the store; trouble is told, never lost. True when it was done. */
export async function attempt(run: () => Promise<unknown>): Promise<boolean> {
  try {
    await run();
    bump();
    return true;
  } catch (error) {
    const problem = asProblem(error);
    const words = problem.code === "offline" ? t("problem.offline") : problem.detail;
    tell([words, problem.hint].filter(Boolean).join(" "), { bad: true });
    return false;
  }
}

/** Take back one's own last change, or the last one to a memory, if it is still at this revision. */
export function undo(memory?: string, revision?: number): Promise<boolean> {
  return attempt(async () => {
    await call("undo_change", { body: memory === undefined ? {} : { memory }, revision });
    tell(t("did.undo"));
  });
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
    tell(t("did.many", { n: results.length - failed.length, done: t(DONE[name]) }));
    if (failed.length > 0) tell(t("did.many_failed", { n: failed.length, why: failed[0]?.detail ?? "" }), { bad: true });
  });
}

export function toldDone(name: keyof typeof DONE, memory: string, revision?: number): void {
  tell(t(DONE[name]), { undo: () => void undo(memory, revision) });
  bump();
}
