// Written by scripts/reference.py from the OpenAPI document. Do not edit.

export type Json = Record<string, unknown>;

/** How we came to believe something: the memory, its links both ways, all that happened to it. */
export type AccountShape = { memory: WholeMemory; confidence_now: number; points_at: LinkShape[]; pointed_at_by: LinkShape[]; history: EntryShape[] };

/** What happened each day, in UTC: memories by kind and by source, acts, and what agents were told by moment. */
export type ActivityShape = { since: string; kinds: DayShape[]; sources: DayShape[]; acts: DayShape[]; told: DayShape[] };

/** One act on many memories. */
export type Batch = { act: "confirm" | "reject" | "dispute" | "pin" | "unpin" | "forget"; ids: string[]; why?: string };

/** What became of one of several: `ok`, or the code and words of the error. */
export type BatchResult = { id: string; ok: boolean; code?: string; detail?: string };

export type BatchShape = { results: BatchResult[] };

/** What is wrong with a memory, and the better words where there are any. */
export type CorrectionBody = { content?: string | null; reason?: "inaccurate" | "outdated" | "too_specific" | "duplicate"; duplicate_of?: string | null; until?: string | null; files?: string[] | null; modules?: string[] | null; why?: string };

export type DayShape = { day: string; name: string; count: number };

/** One change in the log: who, when, by which door, what and why. */
export type EntryShape = { number: number; act: string; at: string; actor?: string; door?: string; action: string; memory?: string; why?: string; before?: Json; after?: Json; undoes?: string; erased?: boolean };

export type FacetValue = { value: string; count: number };

/** How many memories of a filter carry each value, the most frequent first. */
export type FacetsShape = { total: number; facets: Record<string, FacetValue[]> };

export type ForgottenShape = { forgotten: string; lingering: string; backups: string[] };

/** What was found, best first; `notes` say what was skipped and why. */
export type FoundMemories = { query_type: string; notes: string[]; hits: FoundMemory[] };

/** A memory that was found, with what ranked it and where the words of the question stand in it. */
export type FoundMemory = { id: string; score: number; confidence: number; citation: string; factors: Record<string, number>; reasons: string[]; doubts: string[]; highlights?: number[][]; memory: WholeMemory };

export type GrowthShape = { name: string; value: number; limit: number; passed: boolean };

/** How healthy the store is, from 0 to 100, with the reason for every missing point. */
export type HealthShape = { score: number; reasons: ReasonShape[]; total: number; active: number; to_review: number; growth: GrowthShape[]; at: string };

export type HistoryShape = { entries: EntryShape[] };

export type LinkShape = { source: string; relation: string; target?: string; file?: string; confidence: number; automatic?: boolean; created_at: string };

/** The fields to change; what is not named stays. */
export type MemoryChanges = { why?: string; content?: string; kind?: string; confidence?: number; tags?: string[]; files?: string[]; modules?: string[]; scope?: "global" | "module" | "work_unit" | "session"; visibility?: "personal" | "project" | "team" | "organization"; event_at?: string | null; valid_until?: string | null; stale_at?: string | null; node?: string | null; entities?: string[]; work_unit?: UnitOfWork | null; payload?: Json | null; attributes?: Json; citation?: string | null; decay?: string | null; status?: "candidate" | "active" | "disputed" | "superseded" | "rejected" | "expired" };

/** A page of memories. `cursor` leads to the page after it; `damaged` names rows that could not be read. */
export type MemoryPage = { memories: WholeMemory[]; total?: number; cursor: string | null; damaged: string[] };

/** A statement to remember, with what is known about it. */
export type NewMemory = { content: string; again?: boolean; kind?: string | null; confidence?: number | null; tags?: string[] | null; files?: string[] | null; modules?: string[] | null; scope?: "global" | "module" | "work_unit" | "session" | null; visibility?: "personal" | "project" | "team" | "organization" | null; session?: string | null; event_at?: string | null; valid_until?: string | null; stale_at?: string | null; node?: string | null; entities?: string[] | null; work_unit?: UnitOfWork | null; payload?: Json | null; attributes?: Json | null; citation?: string | null; pinned?: boolean | null; supersedes?: string | null; derived_from?: string[] | null; why?: string | null; user?: string | null };

/** An error as RFC 9457 has it. `code` is stable across releases, `hint` says what to do next. */
export type ProblemShape = { type: string; title: string; status: number; detail: string; code: string; hint: string };

/** Why points are missing, and the command that helps. */
export type ReasonShape = { code: string; points: number; text: string; action: string; count: number };

/** An act, and why. */
export type Reasoned = { why?: string };

/** What became of a statement: new, same, supersedes or contradicts. */
export type RememberedShape = { id: string; verdict: "new" | "same" | "supersedes" | "contradicts"; against: string[]; redacted: string[]; notes: string[]; durable: boolean; memory: WholeMemory };

export type StatusShape = { project: string; memories: Record<string, number>; sessions: Record<string, number>; entities: Record<string, number>; review: Json; observer: Json; latest: Json[]; spend: Json; jobs: Json[] };

export type UndoBody = { memory?: string | null; why?: string };

/** What was taken back. */
export type UndoneShape = { act: string; actions: string[]; memories: string[] };

/** The piece of work a memory belongs to. */
export type UnitOfWork = { methodology: string; hierarchy: string[]; label: string };

/** A memory with every field. Empty fields are left out; times are ISO 8601 in UTC. */
export type WholeMemory = { id: string; project: string; kind: string; content: string; status: "candidate" | "active" | "disputed" | "superseded" | "rejected" | "expired"; confidence: number; source: "user_taught" | "agent_explicit" | "qa_auto" | "mcp_auto" | "commit_auto" | "observer_inferred" | "indexed" | "said" | "extracted"; scope: "global" | "module" | "work_unit" | "session"; visibility: "personal" | "project" | "team" | "organization"; tags?: string[]; files?: string[]; modules?: string[]; created_at: string; updated_at: string; event_at?: string; accessed_at: string; access_count?: number; session?: string; commit?: string; work_unit?: Json; source_role?: string; provenance?: string[]; node?: string; impacted?: string[]; entities?: string[]; citation?: string; needs_review?: boolean; verified?: boolean; pinned?: boolean; flagged?: boolean; stale_at?: string; valid_until?: string; superseded_by?: string; decay?: string; span?: Json; payload?: Json; attributes?: Json; revision: number; user?: string; confidence_now?: number };

export interface Operations {
  /** What came, what was done and what agents were told on each of the last days. */
  read_activity: {
    path: Record<string, never>;
    query: { store?: "project" | "personal"; days?: number };
    body: undefined;
    answer: ActivityShape;
  };
  /** The latest changes of all memories, newest first. */
  list_changes: {
    path: Record<string, never>;
    query: { store?: "project" | "personal"; limit?: number };
    body: undefined;
    answer: HistoryShape;
  };
  /** What changes, as it changes. */
  stream_events: {
    path: Record<string, never>;
    query: { store?: "project" | "personal" };
    body: undefined;
    answer: undefined;
  };
  /** How healthy the store is, from 0 to 100, with the reason for every missing point. */
  read_health: {
    path: Record<string, never>;
    query: { store?: "project" | "personal" };
    body: undefined;
    answer: HealthShape;
  };
  /** Memories by filter, without a question, a page at a time. */
  list_memories: {
    path: Record<string, never>;
    query: { store?: "project" | "personal"; kind?: string[]; source?: ("user_taught" | "agent_explicit" | "qa_auto" | "mcp_auto" | "commit_auto" | "observer_inferred" | "indexed" | "said" | "extracted")[]; scope?: ("global" | "module" | "work_unit" | "session")[]; visibility?: ("personal" | "project" | "team" | "organization")[]; status?: ("candidate" | "active" | "disputed" | "superseded" | "rejected" | "expired")[]; file?: string[]; module?: string[]; tag?: string[]; session?: string[]; entity?: string[]; document?: string[]; since?: string; until?: string; min_confidence?: number; needs_review?: boolean; pinned?: boolean; as_of?: string; user?: string; order?: "newest" | "oldest" | "confidence" | "accessed"; limit?: number; cursor?: string; skip?: number; total?: boolean };
    body: undefined;
    answer: MemoryPage;
  };
  /** Remember one statement. */
  remember_memory: {
    path: Record<string, never>;
    query: { store?: "project" | "personal" };
    body: NewMemory;
    answer: RememberedShape;
  };
  /** One act on many memories. */
  act_on_many: {
    path: Record<string, never>;
    query: { store?: "project" | "personal" };
    body: Batch;
    answer: BatchShape;
  };
  /** How many memories of a filter there are of each kind, source, tag, file and the like. */
  count_facets: {
    path: Record<string, never>;
    query: { store?: "project" | "personal"; kind?: string[]; source?: ("user_taught" | "agent_explicit" | "qa_auto" | "mcp_auto" | "commit_auto" | "observer_inferred" | "indexed" | "said" | "extracted")[]; scope?: ("global" | "module" | "work_unit" | "session")[]; visibility?: ("personal" | "project" | "team" | "organization")[]; status?: ("candidate" | "active" | "disputed" | "superseded" | "rejected" | "expired")[]; file?: string[]; module?: string[]; tag?: string[]; session?: string[]; entity?: string[]; document?: string[]; since?: string; until?: string; min_confidence?: number; needs_review?: boolean; pinned?: boolean; as_of?: string; user?: string; limit?: number };
    body: undefined;
    answer: FacetsShape;
  };
  /** The right few memories for a question, best first, with what ranked them. */
  search_memories: {
    path: Record<string, never>;
    query: { store?: "project" | "personal"; kind?: string[]; source?: ("user_taught" | "agent_explicit" | "qa_auto" | "mcp_auto" | "commit_auto" | "observer_inferred" | "indexed" | "said" | "extracted")[]; scope?: ("global" | "module" | "work_unit" | "session")[]; visibility?: ("personal" | "project" | "team" | "organization")[]; status?: ("candidate" | "active" | "disputed" | "superseded" | "rejected" | "expired")[]; file?: string[]; module?: string[]; tag?: string[]; session?: string[]; entity?: string[]; document?: string[]; since?: string; until?: string; min_confidence?: number; needs_review?: boolean; pinned?: boolean; as_of?: string; user?: string; q: string; limit?: number; mode?: "hybrid" | "keyword" | "dense"; phase?: "define" | "implement" | "validate" | "refine" | "explore" | "reflect"; about?: string[] };
    body: undefined;
    answer: FoundMemories;
  };
  /** One memory, whole. */
  get_memory: {
    path: { id: string };
    query: { store?: "project" | "personal" };
    body: undefined;
    answer: WholeMemory;
  };
  /** Change fields of a memory in place. */
  edit_memory: {
    path: { id: string };
    query: { store?: "project" | "personal" };
    body: MemoryChanges;
    answer: WholeMemory;
  };
  /** Remove a memory for good, from every file of the store. */
  forget_memory: {
    path: { id: string };
    query: { store?: "project" | "personal"; why?: string };
    body: undefined;
    answer: ForgottenShape;
  };
  /** A person stands behind it. */
  confirm_memory: {
    path: { id: string };
    query: { store?: "project" | "personal" };
    body: Reasoned;
    answer: WholeMemory;
  };
  /** Correct a memory that is inaccurate, outdated, too specific or a duplicate, by better words or without any. */
  correct_memory: {
    path: { id: string };
    query: { store?: "project" | "personal" };
    body: CorrectionBody;
    answer: RememberedShape;
  };
  /** It is doubted: it stays, marked, at a lower weight. */
  dispute_memory: {
    path: { id: string };
    query: { store?: "project" | "personal" };
    body: Reasoned;
    answer: WholeMemory;
  };
  /** All that happened to one memory, oldest first. */
  memory_history: {
    path: { id: string };
    query: { store?: "project" | "personal"; limit?: number };
    body: undefined;
    answer: HistoryShape;
  };
  /** A pinned memory never fades. */
  pin_memory: {
    path: { id: string };
    query: { store?: "project" | "personal" };
    body: Reasoned;
    answer: WholeMemory;
  };
  /** It is wrong and must not come back. */
  reject_memory: {
    path: { id: string };
    query: { store?: "project" | "personal" };
    body: Reasoned;
    answer: WholeMemory;
  };
  /** Let it fade again. */
  unpin_memory: {
    path: { id: string };
    query: { store?: "project" | "personal" };
    body: Reasoned;
    answer: WholeMemory;
  };
  /** How we came to believe something: the memory, its links both ways, its history. */
  memory_account: {
    path: { id: string };
    query: { store?: "project" | "personal" };
    body: undefined;
    answer: AccountShape;
  };
  /** This document. */
  read_openapi: {
    path: Record<string, never>;
    query: Record<string, never>;
    body: undefined;
    answer: Json;
  };
  /** Open the panel with a one-time code. */
  begin_session: {
    path: Record<string, never>;
    query: Record<string, never>;
    body: undefined;
    answer: undefined;
  };
  /** Log out. */
  end_session: {
    path: Record<string, never>;
    query: Record<string, never>;
    body: undefined;
    answer: undefined;
  };
  /** How things stand: memories, sessions, entities, turns, jobs, what language models cost. */
  read_status: {
    path: Record<string, never>;
    query: { store?: "project" | "personal" };
    body: undefined;
    answer: StatusShape;
  };
  /** Take back your own last change, or the last one to a memory. */
  undo_change: {
    path: Record<string, never>;
    query: { store?: "project" | "personal" };
    body: UndoBody;
    answer: UndoneShape;
  };
}

export const routes: Record<keyof Operations, [string, string]> = {
  read_activity: ["GET", "/v1/activity"],
  list_changes: ["GET", "/v1/changes"],
  stream_events: ["GET", "/v1/events"],
  read_health: ["GET", "/v1/health"],
  list_memories: ["GET", "/v1/memories"],
  remember_memory: ["POST", "/v1/memories"],
  act_on_many: ["POST", "/v1/memories/batch"],
  count_facets: ["GET", "/v1/memories/facets"],
  search_memories: ["GET", "/v1/memories/search"],
  get_memory: ["GET", "/v1/memories/{id}"],
  edit_memory: ["PATCH", "/v1/memories/{id}"],
  forget_memory: ["DELETE", "/v1/memories/{id}"],
  confirm_memory: ["POST", "/v1/memories/{id}/confirm"],
  correct_memory: ["POST", "/v1/memories/{id}/correct"],
  dispute_memory: ["POST", "/v1/memories/{id}/dispute"],
  memory_history: ["GET", "/v1/memories/{id}/history"],
  pin_memory: ["POST", "/v1/memories/{id}/pin"],
  reject_memory: ["POST", "/v1/memories/{id}/reject"],
  unpin_memory: ["POST", "/v1/memories/{id}/unpin"],
  memory_account: ["GET", "/v1/memories/{id}/why"],
  read_openapi: ["GET", "/v1/openapi.json"],
  begin_session: ["POST", "/v1/session"],
  end_session: ["DELETE", "/v1/session"],
  read_status: ["GET", "/v1/status"],
  undo_change: ["POST", "/v1/undo"],
};
