// Written by scripts/reference.py from the OpenAPI document. Do not edit.

export type Json = Record<string, unknown>;

/** How we came to believe something: the memory, its links both ways, all that happened to it. */
export type AccountShape = { memory: WholeMemory; confidence_now: number; points_at: LinkShape[]; pointed_at_by: LinkShape[]; history: EntryShape[]; fading: FadingShape[] };

/** What happened each day, in UTC: memories by kind and by source, acts, and what agents were told by moment. */
export type ActivityShape = { since: string; kinds: DayShape[]; sources: DayShape[]; acts: DayShape[]; told: DayShape[] };

/** What the person was shown. */
export type AdoptBody = { state: string };

export type AdoptedShape = { adopted: boolean };

/** What is remembered about a question; `sentences` where a language model wrote an answer, each with what it rests
on. */
export type AnswerShape = { question: string; model: string | null; sentences: CitedSentenceShape[]; hits: FoundMemory[]; notes: string[] };

export type AssignBody = { team: string; leaves?: boolean };

export type BackupShape = { path: string | null };

/** One act on many memories. */
export type Batch = { act: "confirm" | "reject" | "dispute" | "pin" | "unpin" | "forget"; ids: string[]; why?: string };

/** What became of one of several: `ok`, or the code and words of the error. */
export type BatchResult = { id: string; ok: boolean; revision?: number; code?: string; detail?: string };

export type BatchShape = { results: BatchResult[] };

/** A JSON object. Values have the type they should have: a number in quotes is no number. */
export type Body = Record<string, never>;

/** A batch of changes. Sent again under the same name it is not applied again. */
export type ChangesBody = { version: number; batch: string; records: Json[]; confirmed?: boolean };

/** Some changes, and the position after them. */
export type ChangesShape = { records: Json[]; after: number; anchor: string; more: boolean; reset: boolean };

export type CheckShape = { ok: boolean; memories: number; findings: Json[] };

export type CitedSentenceShape = { text: string; memories: string[] };

export type CodeFoundShape = { hits: Json[] };

export type CommentBody = { words: string };

export type CommentShape = { actor: string; at: string; words: string; action: string };

/** What is wrong with a memory, and the better words where there are any. */
export type CorrectionBody = { content?: string | null; reason?: "inaccurate" | "outdated" | "too_specific" | "duplicate"; duplicate_of?: string | null; until?: string | null; files?: string[] | null; modules?: string[] | null; why?: string };

export type DayShape = { day: string; name: string; count: number };

export type DecidedShape = { decision: string; memory: WholeMemory; settled: WholeMemory[]; waiting: number; act: string };

/** What a person decides about a memory that waits. `seen` is the `revisions` of the item as it was shown. */
export type Decision = { decision: "confirm" | "reject" | "edit" | "dispute" | "keep_both"; content?: string | null; seen?: Record<string, number> | null; why?: string };

export type DocsCheckedShape = { ok: boolean; conflicts: Json[]; broken: Json[]; notes: string[] };

/** What a document links to, what links to it, and its rank as a share of the highest. */
export type DocumentLinksShape = { rank: number; links_to: string[]; linked_from: string[] };

export type DocumentShape = { id: string; path: string; title?: string; label?: string; type?: string; confidence: number; created_at: string; updated_at: string; accessed_at?: string; access_count?: number; sha256?: string; size?: number; passages?: number; confidence_now?: number };

export type DocumentsShape = { documents: DocumentShape[] };

export type EntitiesShape = { entities: EntityShape[] };

export type EntityShape = { id: string; name: string; type: string; aliases: string[]; summary: string; mentions: number };

/** One change in the log: who, when, by which door, what and why. */
export type EntryShape = { number: number; act: string; at: string; actor?: string; door?: string; action: string; memory?: string; why?: string; before?: Json; after?: Json; undoes?: string; erased?: boolean };

/** What to erase: exactly one of subject, session, user, filter, project and everything. A dry run shows it and
gives the digest that the erasure itself must name. */
export type EraseBody = { subject?: string | null; also?: string[]; except_names?: string[]; session?: string | null; user?: string | null; filter?: ErasedFilter | null; project?: boolean; everything?: boolean; backups?: "list" | "rewrite" | "delete"; exports?: boolean; dry_run?: boolean; digest?: string | null };

/** Which memories to erase. What is named several times means any of the values. */
export type ErasedFilter = { kinds?: string[]; sources?: string[]; tags?: string[]; files?: string[]; sessions?: string[]; since?: string | null; until?: string | null };

/** What was or would be erased, what was searched afterwards and what is left. Only a dry run names memories. */
export type ErasureShape = { dry_run: boolean; complete: boolean; memories: string[]; shown: WholeMemory[]; erased: Json[]; searched: Json[]; remaining: Json[]; notes: string[]; digest: string };

export type FacetValue = { value: string; count: number };

/** How many memories of a filter carry each value, the most frequent first. */
export type FacetsShape = { total: number; facets: Record<string, FacetValue[]> };

/** What the confidence will be worth in so many days if nobody uses the memory. */
export type FadingShape = { day: number; confidence: number };

export type ForgottenShape = { forgotten: string; lingering: string; backups: string[] };

/** What was found, best first; `notes` say what was skipped and why. */
export type FoundMemories = { query_type: string; notes: string[]; hits: FoundMemory[] };

/** A memory that was found, with what ranked it and where the words of the question stand in it. */
export type FoundMemory = { id: string; score: number; confidence: number; citation: string; factors: Record<string, number>; reasons: string[]; doubts: string[]; highlights?: number[][]; memory: WholeMemory };

/** What a server is: the versions it speaks, the name of its copy, its project, its time and its limits. */
export type GreetingShape = { versions: number[]; server: string; project: string; time: string; memories: number; max_bytes: number; max_records: number };

export type GrowthShape = { name: string; value: number; limit: number; passed: boolean; text: string; advice: string };

/** How healthy the store is, from 0 to 100, with the reason for every missing point. */
export type HealthShape = { score: number; reasons: ReasonShape[]; total: number; active: number; to_review: number; growth: GrowthShape[]; at: string };

export type HistoryShape = { entries: EntryShape[] };

export type HostShape = { name: string; state: "absent" | "current" | "outdated" | "broken" };

export type HostsShape = { hosts: HostShape[] };

export type InvitationShape = { team: string; role: string; made_by: string; until: string };

export type InviteBody = { team?: string | null; role?: string; days?: number };

export type InvitedShape = { code: string };

export type JobPlanShape = { job: string; total: number; note: string; steps: Record<string, string>[] };

export type JobReportShape = { job: string; done: number; waiting: number; failed: boolean; notes: string[] };

export type JobShape = { name: string; outcome: string | null; note: string; failures: number; ran_at: string | null; failed_at: string | null; held_by: string | null; next_at: string; always: boolean };

export type JobsShape = { jobs: JobShape[] };

export type LinkShape = { source: string; relation: string; target?: string; file?: string; confidence: number; automatic?: boolean; created_at: string };

/** The folders of the code, what they need, their layers, and where programs begin. */
export type MapShape = { files: number; nodes: number; edges: number; languages: Record<string, number>; modules: ModuleShape[] };

export type MatchesShape = { matches: Json[]; notes: string[] };

export type MemoriesShape = { memories: WholeMemory[] };

/** The fields to change; what is not named stays. */
export type MemoryChanges = { why?: string; content?: string; kind?: string; confidence?: number; tags?: string[]; files?: string[]; modules?: string[]; scope?: "global" | "module" | "work_unit" | "session"; visibility?: "personal" | "project" | "team" | "organization"; team?: string | null; event_at?: string | null; valid_until?: string | null; stale_at?: string | null; node?: string | null; entities?: string[]; work_unit?: UnitOfWork | null; payload?: Json | null; attributes?: Json; citation?: string | null; decay?: string | null; status?: "candidate" | "active" | "disputed" | "superseded" | "rejected" | "expired" };

/** A page of memories. `cursor` leads to the page after it; `damaged` names rows that could not be read. */
export type MemoryPage = { memories: WholeMemory[]; total?: number; cursor: string | null; damaged: string[] };

/** Two names for one. */
export type MergeBody = { keep: string; other: string; why?: string };

/** Which models answer here, and the packs there are. */
export type ModelsShape = { embedder: string; vectors: string | null; waiting: number; reranker: string; model: string; tokens_today: number; tokens_per_day: number; packs: PackShape[] };

export type ModuleShape = { path: string; files: number; symbols: number; layer: number; role: string; needs: Json[]; needed_by: string[]; entries: string[]; changes: number; memories: number };

/** A statement to remember, with what is known about it. */
export type NewMemory = { content: string; again?: boolean; kind?: string | null; confidence?: number | null; tags?: string[] | null; files?: string[] | null; modules?: string[] | null; scope?: "global" | "module" | "work_unit" | "session" | null; visibility?: "personal" | "project" | "team" | "organization" | null; session?: string | null; event_at?: string | null; valid_until?: string | null; stale_at?: string | null; node?: string | null; entities?: string[] | null; work_unit?: UnitOfWork | null; payload?: Json | null; attributes?: Json | null; citation?: string | null; pinned?: boolean | null; supersedes?: string | null; derived_from?: string[] | null; why?: string | null; user?: string | null; team?: string | null };

export type NewTeamTokenShape = { name: string; token: string };

/** How much was observed, and the latest sessions. */
export type ObserverShape = { sessions: number; calls: number; errors: number; events: number; slow_events: number; tainted_sessions: number; promoted: number; last: string | null; latest: SeenSessionShape[] };

export type PackShape = { name: string; state: string; model: string; dims: number; bytes: number; licence: string; path: string };

/** A briefing within its budget: the fenced text and the memories in it. */
export type PackedBriefing = { query_type: string; tokens: number; notes: string[]; hits: FoundMemory[]; text: string };

export type PeopleShape = { people: PersonShape[] };

export type PersonShape = { id: string; name: string; role: string; teams: string[]; joined_at: string };

/** An error as RFC 9457 has it. `code` is stable across releases, `hint` says what to do next. */
export type ProblemShape = { type: string; title: string; status: number; detail: string; code: string; hint: string };

/** All that is known of one entity. */
export type ProfileShape = { entity: EntityShape; merged: EntityShape[]; memories: WholeMemory[] };

export type ProjectShape = { project: string; path: string; memories: number; changed_at: string; personal: boolean; trouble: string };

/** The projects of this person on this machine. */
export type ProjectsShape = { projects: ProjectShape[] };

/** A question. With `write`, the configured language model writes an answer, each sentence with its memories. */
export type QuestionBody = { question: string; limit?: number; write?: boolean; kinds?: string[]; user?: string | null };

/** What a change reaches, or what something needs. */
export type ReachShape = { target: string; direction: string; nodes: Json[]; files: Json[]; tests: string[]; notes: string[] };

/** Why points are missing, and the command that helps. */
export type ReasonShape = { code: string; points: number; text: string; action: string; count: number };

/** An act, and why. */
export type Reasoned = { why?: string };

/** What became of one record. */
export type RecordResultShape = { key: string; verdict: "applied" | "stale" | "known" | "buried" | "refused"; version?: number; why?: string };

export type RelatedDocumentShape = { document: DocumentShape; count: number; last: string };

export type RelatedDocumentsShape = { related: RelatedDocumentShape[] };

/** What became of a statement: new, same, supersedes or contradicts. */
export type RememberedShape = { id: string; verdict: "new" | "same" | "supersedes" | "contradicts"; against: string[]; redacted: string[]; notes: string[]; durable: boolean; memory: WholeMemory };

export type RemovedShape = { removed: string };

export type ResultsShape = { results: RecordResultShape[] };

/** What speaks for and against an item, both sides of a contradiction included. */
export type ReviewEvidenceShape = { item: ReviewItemShape; times: number; sightings: SightingShape[]; sources: WholeMemory[]; history: EntryShape[]; rival_histories: Record<string, EntryShape[]> };

export type ReviewGroupShape = { by: string; name: string; count: number };

export type ReviewGroupsShape = { groups: ReviewGroupShape[] };

/** A memory that waits for a person. `revisions` goes back with a decision, so that it holds for these words. */
export type ReviewItemShape = { id: string; question: "contradiction" | "dispute" | "stale" | "candidate" | "tainted"; subject: string; memory: WholeMemory; rivals: WholeMemory[]; revisions: Record<string, number>; sessions: string[]; steps: number; saves_tokens: number; tainted: boolean; spoken: boolean; in_others_words: boolean };

export type ReviewPageShape = { items: ReviewItemShape[]; total: number; cursor: string | null; damaged: string[] };

export type RevokeBody = { name: string; whose?: string | null };

export type RevokedShape = { revoked: string };

export type RoleBody = { role: string };

/** About how many tokens agents saved by what they were told. */
export type SavedShape = { days: number; told: number; tokens: number };

export type SeenErrorShape = { tool: string; words: string; example: string; steps: number[]; times: number; resolution: string };

export type SeenFileShape = { path: string; reads: number; edits: number; first: number; last: number };

/** An observed session of an agent, in figures. */
export type SeenSessionShape = { id: string; host: string; kind: string; outcome: string; started: string | null; ended: string | null; prompt: string; steps: number; calls: number; errors: number; tokens: number; taint: string; branch: string };

export type SeenToolShape = { tool: string; words: string; times: number; errors: number };

/** A conversation: when, how much was said, how far its facts were drawn. */
export type SessionShape = { id: string; state: "open" | "queued" | "consolidated"; episodes: number; seen_at: string; last_at: string; consolidated_at: string | null };

/** One observed session: what it did, what it was told and when, what was learnt from it. */
export type SessionStoryShape = { session: SeenSessionShape; told: ToldShape[]; saved_tokens: number; learned: WholeMemory[]; errors: SeenErrorShape[]; files: SeenFileShape[]; tools: SeenToolShape[] };

export type SessionsShape = { sessions: SessionShape[] };

export type SettingShape = { name: string; value: unknown; default: unknown };

/** The settings that hold, and what was ignored. */
export type SettingsShape = { settings: SettingShape[]; notice: string; trust: TrustShape };

export type SightingShape = { session?: string; host?: string; at?: string; steps?: number[]; prompt?: string; taint?: string };

/** One name for two. */
export type SplitBody = { name: string; alias: string; why?: string };

/** What a store is and holds now, in a few letters: adopting names it, so that nothing else is adopted. */
export type StateShape = { state: string; foreign: boolean };

export type StatusShape = { project: string; memories: Record<string, number>; sessions: Record<string, number>; entities: Record<string, number>; review: Json; observer: Json; growth: GrowthShape[]; latest: Json[]; spend: Json; jobs: Json[] };

export type StoreShape = { name: "project" | "personal"; project?: string; path: string | null; exists: boolean; foreign?: boolean; read_only?: boolean; memories?: Record<string, number>; bytes?: number; notices?: string[]; backups?: Json[] };

export type StoresShape = { stores: StoreShape[] };

/** The version that each thing of a batch got. */
export type SyncBatchShape = { applied: Record<string, number> };

export type TeamShape = { name: string; projects: string[] };

export type TeamStatusShape = { teams: TeamShape[]; people: PersonShape[]; invitations: InvitationShape[]; disputed: number; me: string | null };

export type TeamTokenShape = { name: string; person: string; scope: string; for_person: boolean; made_at: string; until: string };

export type TeamTokensShape = { tokens: TeamTokenShape[] };

/** What a run did, or with `dry_run` what it would do. */
export type TendedShape = { reports: JobReportShape[]; plans: JobPlanShape[]; skipped: string[] };

export type ThreadShape = { comments: CommentShape[] };

export type TokenBody = { name: string; scope?: string; days?: number; for_person?: boolean };

export type ToldListShape = { told: ToldShape[] };

/** A memory that an agent was told unasked: when, where, and what became of it. */
export type ToldShape = { id: string; at: string; moment: string; session: string; host: string; status: string; content: string; touched?: string[] };

export type TrustBody = { level: "cautious" | "standard" | "confident" | "autonomous" };

/** One level: how many memories it may tell now (`told`), how many of the latest tellings it would have let through
(`lately`), and those it would have withheld. */
export type TrustLevelShape = { level: "cautious" | "standard" | "confident" | "autonomous"; threshold: number; told: number; lately: number; withheld: number; examples: ToldShape[] };

/** What agents were told in the last days and how many memories there are, and what each level makes of both. */
export type TrustLevelsShape = { days: number; memories: number; lately: number; levels: TrustLevelShape[] };

/** How much agents are told unasked, and what people did with what they were shown since. */
export type TrustShape = { level: "cautious" | "standard" | "confident" | "autonomous"; threshold: number; offered: string | null; sessions: number; reviewed: number; confirmed: number; used: number; corrected: number; flagged: number };

export type UndoBody = { memory?: string | null; act?: string | null; why?: string };

/** What was taken back. */
export type UndoneShape = { act: string; actions: string[]; memories: string[] };

/** The piece of work a memory belongs to. */
export type UnitOfWork = { methodology: string; hierarchy: string[]; label: string };

export type WelcomeShape = { memories: WelcomedShape[] };

export type WelcomedShape = { memory: WholeMemory; weight: number };

/** A memory with every field. Empty fields are left out; times are ISO 8601 in UTC. */
export type WholeMemory = { id: string; project: string; kind: string; content: string; status: "candidate" | "active" | "disputed" | "superseded" | "rejected" | "expired"; confidence: number; source: "user_taught" | "agent_explicit" | "qa_auto" | "mcp_auto" | "commit_auto" | "observer_inferred" | "indexed" | "said" | "extracted"; scope: "global" | "module" | "work_unit" | "session"; visibility: "personal" | "project" | "team" | "organization"; tags?: string[]; files?: string[]; modules?: string[]; created_at: string; updated_at: string; event_at?: string; accessed_at: string; access_count?: number; session?: string; commit?: string; work_unit?: Json; source_role?: string; provenance?: string[]; node?: string; impacted?: string[]; entities?: string[]; citation?: string; needs_review?: boolean; verified?: boolean; pinned?: boolean; flagged?: boolean; stale_at?: string; valid_until?: string; superseded_by?: string; decay?: string; span?: Json; payload?: Json; attributes?: Json; revision: number; user?: string; team?: string; confidence_now?: number };

export interface Operations {
  /** What came, what was done and what agents were told on each of the last days. */
  read_activity: {
    path: Record<string, never>;
    query: { store?: "project" | "personal"; days?: number };
    body: undefined;
    answer: ActivityShape;
  };
  /** What is remembered about a question, and a written answer where a language model is configured. */
  ask_memory: {
    path: Record<string, never>;
    query: { store?: "project" | "personal" };
    body: QuestionBody;
    answer: AnswerShape;
  };
  /** What an agent is given before it works: packed into a budget of tokens, fenced, cited. */
  make_briefing: {
    path: Record<string, never>;
    query: { store?: "project" | "personal"; kind?: string[]; source?: ("user_taught" | "agent_explicit" | "qa_auto" | "mcp_auto" | "commit_auto" | "observer_inferred" | "indexed" | "said" | "extracted")[]; scope?: ("global" | "module" | "work_unit" | "session")[]; visibility?: ("personal" | "project" | "team" | "organization")[]; status?: ("candidate" | "active" | "disputed" | "superseded" | "rejected" | "expired")[]; file?: string[]; module?: string[]; tag?: string[]; session?: string[]; entity?: string[]; document?: string[]; since?: string; until?: string; min_confidence?: number; needs_review?: boolean; pinned?: boolean; as_of?: string; user?: string; q: string; about?: string[]; phase?: "define" | "implement" | "validate" | "refine" | "explore" | "reflect"; budget?: number };
    body: undefined;
    answer: PackedBriefing;
  };
  /** The latest changes of all memories, newest first. */
  list_changes: {
    path: Record<string, never>;
    query: { store?: "project" | "personal"; limit?: number };
    body: undefined;
    answer: HistoryShape;
  };
  /** What a file or symbol needs. */
  code_deps: {
    path: Record<string, never>;
    query: { store?: "project" | "personal"; target: string; depth?: number; limit?: number };
    body: undefined;
    answer: ReachShape;
  };
  /** What breaks if a file or symbol changes: dependents, tests, files that changed together, memories. */
  code_impact: {
    path: Record<string, never>;
    query: { store?: "project" | "personal"; target: string; depth?: number; limit?: number };
    body: undefined;
    answer: ReachShape;
  };
  /** The folders of the code, what they need, how often they change, how many memories are about their files. */
  code_map: {
    path: Record<string, never>;
    query: { store?: "project" | "personal" };
    body: undefined;
    answer: MapShape;
  };
  /** Passages of the project's source code for a question, best first. */
  search_code: {
    path: Record<string, never>;
    query: { store?: "project" | "personal"; q: string; limit?: number };
    body: undefined;
    answer: CodeFoundShape;
  };
  /** Where the data of a file or symbol goes: along calls and flows only. */
  code_trace: {
    path: Record<string, never>;
    query: { store?: "project" | "personal"; target: string; depth?: number; limit?: number };
    body: undefined;
    answer: ReachShape;
  };
  /** The documents that are indexed, by path, with how far each is trusted now. */
  list_documents: {
    path: Record<string, never>;
    query: { store?: "project" | "personal"; label?: string; type?: "semantic" | "procedural" };
    body: undefined;
    answer: DocumentsShape;
  };
  /** Contradictions between a change and the specs that hold, and broken links. */
  check_docs: {
    path: Record<string, never>;
    query: { store?: "project" | "personal"; change?: string };
    body: undefined;
    answer: DocsCheckedShape;
  };
  /** What a document links to, what links to it, and how high that ranks it among the others. */
  document_links: {
    path: Record<string, never>;
    query: { store?: "project" | "personal"; path: string; limit?: number };
    body: undefined;
    answer: DocumentLinksShape;
  };
  /** The documents most often found together with one. */
  related_documents: {
    path: Record<string, never>;
    query: { store?: "project" | "personal"; path: string; limit?: number };
    body: undefined;
    answer: RelatedDocumentsShape;
  };
  /** The best passages of the project's documents for a question. */
  search_documents: {
    path: Record<string, never>;
    query: { store?: "project" | "personal"; label?: string; type?: "semantic" | "procedural"; q: string; limit?: number };
    body: undefined;
    answer: MatchesShape;
  };
  /** Who and what is spoken of, the most mentioned first. */
  list_entities: {
    path: Record<string, never>;
    query: { store?: "project" | "personal"; limit?: number; skip?: number; user?: string; type?: "person" | "project" | "organization" | "location" | "email" | "url" | "date" | "tag" | "other" };
    body: undefined;
    answer: EntitiesShape;
  };
  /** Two names for one. */
  merge_entities_of: {
    path: Record<string, never>;
    query: { store?: "project" | "personal" };
    body: MergeBody;
    answer: EntityShape;
  };
  /** All that is known of one entity, by name, alias or id. */
  get_entity: {
    path: Record<string, never>;
    query: { store?: "project" | "personal"; name: string; type?: "person" | "project" | "organization" | "location" | "email" | "url" | "date" | "tag" | "other"; limit?: number; user?: string };
    body: undefined;
    answer: ProfileShape;
  };
  /** One name for two. */
  split_entity_of: {
    path: Record<string, never>;
    query: { store?: "project" | "personal" };
    body: SplitBody;
    answer: EntityShape;
  };
  /** Erase a subject, a session, a user, some memories, the project or everything from every file. */
  erase_data: {
    path: Record<string, never>;
    query: { store?: "project" | "personal" };
    body: EraseBody;
    answer: ErasureShape;
  };
  /** What changes, as it changes. */
  stream_events: {
    path: Record<string, never>;
    query: { store?: "project" | "personal" };
    body: undefined;
    answer: undefined;
  };
  /** Everything you put in, as a stream. */
  export_memories: {
    path: Record<string, never>;
    query: { store?: "project" | "personal"; kind?: string[]; source?: ("user_taught" | "agent_explicit" | "qa_auto" | "mcp_auto" | "commit_auto" | "observer_inferred" | "indexed" | "said" | "extracted")[]; scope?: ("global" | "module" | "work_unit" | "session")[]; visibility?: ("personal" | "project" | "team" | "organization")[]; status?: ("candidate" | "active" | "disputed" | "superseded" | "rejected" | "expired")[]; file?: string[]; module?: string[]; tag?: string[]; session?: string[]; entity?: string[]; document?: string[]; since?: string; until?: string; min_confidence?: number; needs_review?: boolean; pinned?: boolean; as_of?: string; user?: string; format?: "jsonl" | "archive" | "markdown" | "claude"; personal?: boolean; budget?: number };
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
  /** The agents this machine may have, and whether Recollect is installed in them. */
  list_hosts: {
    path: Record<string, never>;
    query: { store?: "project" | "personal" };
    body: undefined;
    answer: HostsShape;
  };
  /** The jobs there are: how the last run went, and when the next one is. */
  list_jobs: {
    path: Record<string, never>;
    query: { store?: "project" | "personal" };
    body: undefined;
    answer: JobsShape;
  };
  /** What jobs did by themselves, newest first. */
  list_job_runs: {
    path: Record<string, never>;
    query: { store?: "project" | "personal"; job?: string; limit?: number };
    body: undefined;
    answer: HistoryShape;
  };
  /** Run one job now, whether it is due or not. */
  run_job: {
    path: { name: string };
    query: { store?: "project" | "personal"; dry_run?: boolean };
    body: undefined;
    answer: TendedShape;
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
  /** What was said about a memory, oldest first: reasons of those who disputed or decided, and comments. */
  read_thread: {
    path: { id: string };
    query: { store?: "project" | "personal" };
    body: undefined;
    answer: ThreadShape;
  };
  /** Say something about a memory, for everybody who sees it. */
  add_comment: {
    path: { id: string };
    query: { store?: "project" | "personal" };
    body: CommentBody;
    answer: CommentShape;
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
  /** Which models answer here, what they cost today, and the packs there are. */
  read_models: {
    path: Record<string, never>;
    query: { store?: "project" | "personal" };
    body: undefined;
    answer: ModelsShape;
  };
  /** How much was observed, and the latest sessions of agents. */
  read_observer: {
    path: Record<string, never>;
    query: { store?: "project" | "personal" };
    body: undefined;
    answer: ObserverShape;
  };
  /** One observed session: what it did, what it was told and when, what was learnt from it. */
  read_observed_session: {
    path: Record<string, never>;
    query: { store?: "project" | "personal"; session: string };
    body: undefined;
    answer: SessionStoryShape;
  };
  /** This document. */
  read_openapi: {
    path: Record<string, never>;
    query: Record<string, never>;
    body: undefined;
    answer: Json;
  };
  /** Every project whose store this person used on this machine, the one that changed last first. */
  list_own_projects: {
    path: Record<string, never>;
    query: { store?: "project" | "personal" };
    body: undefined;
    answer: ProjectsShape;
  };
  /** What waits for a person, best first, with the other side of each contradiction. */
  list_review: {
    path: Record<string, never>;
    query: { store?: "project" | "personal"; kind?: string[]; source?: ("user_taught" | "agent_explicit" | "qa_auto" | "mcp_auto" | "commit_auto" | "observer_inferred" | "indexed" | "said" | "extracted")[]; scope?: ("global" | "module" | "work_unit" | "session")[]; visibility?: ("personal" | "project" | "team" | "organization")[]; status?: ("candidate" | "active" | "disputed" | "superseded" | "rejected" | "expired")[]; file?: string[]; module?: string[]; tag?: string[]; session?: string[]; entity?: string[]; document?: string[]; since?: string; until?: string; min_confidence?: number; needs_review?: boolean; pinned?: boolean; as_of?: string; user?: string; question?: "contradiction" | "dispute" | "stale" | "candidate" | "tainted"; by?: "question" | "subject" | "file" | "module" | "kind"; group?: string; limit?: number; cursor?: string };
    body: undefined;
    answer: ReviewPageShape;
  };
  /** The queue by question, subject, file, module or kind. */
  group_review: {
    path: Record<string, never>;
    query: { store?: "project" | "personal"; kind?: string[]; source?: ("user_taught" | "agent_explicit" | "qa_auto" | "mcp_auto" | "commit_auto" | "observer_inferred" | "indexed" | "said" | "extracted")[]; scope?: ("global" | "module" | "work_unit" | "session")[]; visibility?: ("personal" | "project" | "team" | "organization")[]; status?: ("candidate" | "active" | "disputed" | "superseded" | "rejected" | "expired")[]; file?: string[]; module?: string[]; tag?: string[]; session?: string[]; entity?: string[]; document?: string[]; since?: string; until?: string; min_confidence?: number; needs_review?: boolean; pinned?: boolean; as_of?: string; user?: string; by?: "question" | "subject" | "file" | "module" | "kind" };
    body: undefined;
    answer: ReviewGroupsShape;
  };
  /** Decide about a memory that waits. */
  decide_review: {
    path: { id: string };
    query: { store?: "project" | "personal" };
    body: Decision;
    answer: DecidedShape;
  };
  /** What speaks for and against a memory that waits: where it was seen, both sides, sources, history. */
  review_evidence: {
    path: { id: string };
    query: { store?: "project" | "personal" };
    body: undefined;
    answer: ReviewEvidenceShape;
  };
  /** About how many tokens agents saved by what they were told lately: what it cost to learn it the first time. */
  read_saved: {
    path: Record<string, never>;
    query: { store?: "project" | "personal"; days?: number };
    body: undefined;
    answer: SavedShape;
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
  /** Conversations, the one spoken in last first. */
  list_sessions: {
    path: Record<string, never>;
    query: { store?: "project" | "personal"; limit?: number; skip?: number; user?: string };
    body: undefined;
    answer: SessionsShape;
  };
  /** What was said in a conversation, by event time; the last of it. */
  list_episodes: {
    path: Record<string, never>;
    query: { store?: "project" | "personal"; session: string; limit?: number; user?: string };
    body: undefined;
    answer: MemoriesShape;
  };
  /** Facts drawn from conversations, newest first; of one session where it is named. */
  list_facts: {
    path: Record<string, never>;
    query: { store?: "project" | "personal"; session?: string; limit?: number; user?: string };
    body: undefined;
    answer: MemoriesShape;
  };
  /** The settings that hold, what was ignored, and how much agents are told. */
  read_settings: {
    path: Record<string, never>;
    query: { store?: "project" | "personal" };
    body: undefined;
    answer: SettingsShape;
  };
  /** What each level of trust would have told of what agents were told lately, and how many memories it may tell. */
  compare_trust: {
    path: Record<string, never>;
    query: { store?: "project" | "personal"; days?: number };
    body: undefined;
    answer: TrustLevelsShape;
  };
  /** Choose how much agents are told unasked. */
  choose_trust: {
    path: Record<string, never>;
    query: { store?: "project" | "personal" };
    body: TrustBody;
    answer: TrustShape;
  };
  /** How things stand: memories, sessions, entities, turns, jobs, what language models cost. */
  read_status: {
    path: Record<string, never>;
    query: { store?: "project" | "personal" };
    body: undefined;
    answer: StatusShape;
  };
  /** The project's store and the person's own: where they are, whose, how large, their backups. */
  list_stores: {
    path: Record<string, never>;
    query: { store?: "project" | "personal" };
    body: undefined;
    answer: StoresShape;
  };
  /** Take a foreign store as your own, if it still is what you were shown. */
  adopt_store: {
    path: Record<string, never>;
    query: { store?: "project" | "personal" };
    body: AdoptBody;
    answer: AdoptedShape;
  };
  /** Copy the store into `backups/` beside it, verified. */
  back_up_store: {
    path: Record<string, never>;
    query: { store?: "project" | "personal" };
    body: undefined;
    answer: BackupShape;
  };
  /** Is every row sound, does every index match?. */
  check_store: {
    path: Record<string, never>;
    query: { store?: "project" | "personal"; quick?: boolean };
    body: undefined;
    answer: CheckShape;
  };
  /** What the store is and holds now, for a person who decides whether to adopt it. */
  read_store_state: {
    path: Record<string, never>;
    query: { store?: "project" | "personal" };
    body: undefined;
    answer: StateShape;
  };
  /** Which versions of the protocol are spoken here, whose memories these are, and the time. */
  greet_copy: {
    path: Record<string, never>;
    query: { store?: "project" | "personal" };
    body: undefined;
    answer: GreetingShape;
  };
  /** What became of a batch whose answer was lost. */
  close_sync_batch: {
    path: { batch: string };
    query: { store?: "project" | "personal" };
    body: undefined;
    answer: SyncBatchShape;
  };
  /** What changed after a position of the log, a page at a time. */
  list_sync_changes: {
    path: Record<string, never>;
    query: { store?: "project" | "personal"; version?: number; after?: number; anchor?: string };
    body: undefined;
    answer: ChangesShape;
  };
  /** Apply a batch of changes from a copy; the answer says of each record what became of it. */
  apply_sync_batch: {
    path: Record<string, never>;
    query: { store?: "project" | "personal" };
    body: ChangesBody;
    answer: ResultsShape;
  };
  /** Teams with their projects, people, open invitations, and how much is disputed. */
  read_team: {
    path: Record<string, never>;
    query: { store?: "project" | "personal" };
    body: undefined;
    answer: TeamStatusShape;
  };
  /** A code that lets one person in, once. */
  invite_person: {
    path: Record<string, never>;
    query: { store?: "project" | "personal" };
    body: InviteBody;
    answer: InvitedShape;
  };
  /** Who is in: for a member, those they share a team with and the admins. */
  list_people: {
    path: Record<string, never>;
    query: { store?: "project" | "personal" };
    body: undefined;
    answer: PeopleShape;
  };
  /** Take somebody out. */
  remove_person: {
    path: { name: string };
    query: { store?: "project" | "personal" };
    body: Body;
    answer: RemovedShape;
  };
  /** Give somebody another role. */
  change_role: {
    path: { name: string };
    query: { store?: "project" | "personal" };
    body: RoleBody;
    answer: PersonShape;
  };
  /** Put somebody into a team, or take them out of it. */
  assign_person: {
    path: { name: string };
    query: { store?: "project" | "personal" };
    body: AssignBody;
    answer: PersonShape;
  };
  /** Your tokens; everybody's for an admin. */
  list_team_tokens: {
    path: Record<string, never>;
    query: { store?: "project" | "personal" };
    body: undefined;
    answer: TeamTokensShape;
  };
  /** A token for a program of yours. */
  make_team_token: {
    path: Record<string, never>;
    query: { store?: "project" | "personal" };
    body: TokenBody;
    answer: NewTeamTokenShape;
  };
  /** End a token. */
  revoke_team_token: {
    path: Record<string, never>;
    query: { store?: "project" | "personal" };
    body: RevokeBody;
    answer: RevokedShape;
  };
  /** The five memories that whoever joins should know first. */
  read_welcome: {
    path: Record<string, never>;
    query: { store?: "project" | "personal" };
    body: undefined;
    answer: WelcomeShape;
  };
  /** What agents were told unasked, the latest first; of one session where it is named. */
  list_told: {
    path: Record<string, never>;
    query: { store?: "project" | "personal"; session?: string; limit?: number };
    body: undefined;
    answer: ToldListShape;
  };
  /** Take back your own last change, the last one to a memory, or exactly the one that is named. */
  undo_change: {
    path: Record<string, never>;
    query: { store?: "project" | "personal" };
    body: UndoBody;
    answer: UndoneShape;
  };
}

export const routes: Record<keyof Operations, [string, string]> = {
  read_activity: ["GET", "/v1/activity"],
  ask_memory: ["POST", "/v1/ask"],
  make_briefing: ["GET", "/v1/brief"],
  list_changes: ["GET", "/v1/changes"],
  code_deps: ["GET", "/v1/code/deps"],
  code_impact: ["GET", "/v1/code/impact"],
  code_map: ["GET", "/v1/code/map"],
  search_code: ["GET", "/v1/code/search"],
  code_trace: ["GET", "/v1/code/trace"],
  list_documents: ["GET", "/v1/docs"],
  check_docs: ["GET", "/v1/docs/check"],
  document_links: ["GET", "/v1/docs/links"],
  related_documents: ["GET", "/v1/docs/related"],
  search_documents: ["GET", "/v1/docs/search"],
  list_entities: ["GET", "/v1/entities"],
  merge_entities_of: ["POST", "/v1/entities/merge"],
  get_entity: ["GET", "/v1/entities/profile"],
  split_entity_of: ["POST", "/v1/entities/split"],
  erase_data: ["POST", "/v1/erase"],
  stream_events: ["GET", "/v1/events"],
  export_memories: ["GET", "/v1/export"],
  read_health: ["GET", "/v1/health"],
  list_hosts: ["GET", "/v1/hosts"],
  list_jobs: ["GET", "/v1/jobs"],
  list_job_runs: ["GET", "/v1/jobs/runs"],
  run_job: ["POST", "/v1/jobs/{name}/run"],
  list_memories: ["GET", "/v1/memories"],
  remember_memory: ["POST", "/v1/memories"],
  act_on_many: ["POST", "/v1/memories/batch"],
  count_facets: ["GET", "/v1/memories/facets"],
  search_memories: ["GET", "/v1/memories/search"],
  get_memory: ["GET", "/v1/memories/{id}"],
  edit_memory: ["PATCH", "/v1/memories/{id}"],
  forget_memory: ["DELETE", "/v1/memories/{id}"],
  read_thread: ["GET", "/v1/memories/{id}/comments"],
  add_comment: ["POST", "/v1/memories/{id}/comments"],
  confirm_memory: ["POST", "/v1/memories/{id}/confirm"],
  correct_memory: ["POST", "/v1/memories/{id}/correct"],
  dispute_memory: ["POST", "/v1/memories/{id}/dispute"],
  memory_history: ["GET", "/v1/memories/{id}/history"],
  pin_memory: ["POST", "/v1/memories/{id}/pin"],
  reject_memory: ["POST", "/v1/memories/{id}/reject"],
  unpin_memory: ["POST", "/v1/memories/{id}/unpin"],
  memory_account: ["GET", "/v1/memories/{id}/why"],
  read_models: ["GET", "/v1/models"],
  read_observer: ["GET", "/v1/observer"],
  read_observed_session: ["GET", "/v1/observer/session"],
  read_openapi: ["GET", "/v1/openapi.json"],
  list_own_projects: ["GET", "/v1/projects"],
  list_review: ["GET", "/v1/review"],
  group_review: ["GET", "/v1/review/groups"],
  decide_review: ["POST", "/v1/review/{id}/decide"],
  review_evidence: ["GET", "/v1/review/{id}/evidence"],
  read_saved: ["GET", "/v1/saved"],
  begin_session: ["POST", "/v1/session"],
  end_session: ["DELETE", "/v1/session"],
  list_sessions: ["GET", "/v1/sessions"],
  list_episodes: ["GET", "/v1/sessions/episodes"],
  list_facts: ["GET", "/v1/sessions/facts"],
  read_settings: ["GET", "/v1/settings"],
  compare_trust: ["GET", "/v1/settings/trust"],
  choose_trust: ["PUT", "/v1/settings/trust"],
  read_status: ["GET", "/v1/status"],
  list_stores: ["GET", "/v1/stores"],
  adopt_store: ["POST", "/v1/stores/adopt"],
  back_up_store: ["POST", "/v1/stores/backup"],
  check_store: ["GET", "/v1/stores/check"],
  read_store_state: ["GET", "/v1/stores/state"],
  greet_copy: ["GET", "/v1/sync"],
  close_sync_batch: ["POST", "/v1/sync/batches/{batch}"],
  list_sync_changes: ["GET", "/v1/sync/changes"],
  apply_sync_batch: ["POST", "/v1/sync/changes"],
  read_team: ["GET", "/v1/team"],
  invite_person: ["POST", "/v1/team/invite"],
  list_people: ["GET", "/v1/team/people"],
  remove_person: ["POST", "/v1/team/people/{name}/remove"],
  change_role: ["POST", "/v1/team/people/{name}/role"],
  assign_person: ["POST", "/v1/team/people/{name}/team"],
  list_team_tokens: ["GET", "/v1/team/tokens"],
  make_team_token: ["POST", "/v1/team/tokens"],
  revoke_team_token: ["POST", "/v1/team/tokens/revoke"],
  read_welcome: ["GET", "/v1/team/welcome"],
  list_told: ["GET", "/v1/told"],
  undo_change: ["POST", "/v1/undo"],
};
