/** A memory as a row of a list and as a whole card: its words, where they come from, and what can be done about it. */
import { useState } from "preact/hooks";
import { act, forget } from "../acts";
import type { EntryShape, LinkShape, WholeMemory } from "../api";
import { call } from "../client";
import { useLoad } from "../hooks";
import { useKeys } from "../keys";
import { ago, date, named, number, percent, t } from "../words";
import { Badge, Button, Dots, Failure, KindBadge, Skeleton, StatusBadge, When } from "./basic";
import { Curve } from "./chart";
import { CorrectDialog } from "./correct";
import { Dialog } from "./dialog";
import { EditDialog } from "./edit";

/** Text with parts of it marked. Places are counted in characters, as the server counts them. */
export function Marked({ text, places = [] }: { text: string; places?: number[][] }) {
  if (places.length === 0) return <>{text}</>;
  const letters = Array.from(text);
  const parts = [];
  let at = 0;
  for (const [start = 0, end = 0] of [...places].sort((a, b) => (a[0] ?? 0) - (b[0] ?? 0))) {
    if (start < at || end <= start) continue;
    parts.push(letters.slice(at, start).join(""), <mark key={start}>{letters.slice(start, end).join("")}</mark>);
    at = end;
  }
  return (
    <>
      {parts}
      {letters.slice(at).join("")}
    </>
  );
}

/** Where it comes from, in one line. Always visible. */
export function Provenance({ memory }: { memory: WholeMemory }) {
  return (
    <span class="provenance">
      <span>{named("source", memory.source)}</span>
      {memory.source_role && <span>{memory.source_role}</span>}
      {memory.session && (
        <a href={`/sessions/${encodeURIComponent(memory.session)}`} title={memory.session}>
          {t("memory.session", { id: memory.session.slice(0, 12) })}
        </a>
      )}
      {memory.commit && <code>{memory.commit.slice(0, 8)}</code>}
      <When at={memory.created_at} />
    </span>
  );
}

/** The marks that matter in a list. */
function Marks({ memory }: { memory: WholeMemory }) {
  return (
    <>
      {memory.status !== "active" && <StatusBadge status={memory.status} />}
      {memory.needs_review && memory.status !== "candidate" && <Badge tone="warn">{t("memory.needs_review")}</Badge>}
      {memory.pinned && <Badge tone="accent">{t("memory.pinned")}</Badge>}
      {memory.verified && <Badge tone="good">{t("memory.verified")}</Badge>}
    </>
  );
}

export function MemoryLine({ memory, places }: { memory: WholeMemory; places?: number[][] }) {
  const file = memory.files?.[0];
  return (
    <>
      <span class="row-text">
        <Marked text={memory.content} places={places} />
      </span>
      <span class="row-meta">
        <KindBadge kind={memory.kind} />
        <Dots value={memory.confidence_now ?? memory.confidence} />
        <Marks memory={memory} />
        <span class="row-more">{named("source", memory.source)}</span>
        {file && (
          <span class="row-more path" title={file}>
            {file}
          </span>
        )}
        <span class="row-more">{ago(memory.created_at)}</span>
      </span>
    </>
  );
}

/** One memory with its story, loaded by its id. */
export function MemoryCard({ id, onGone }: { id: string; onGone?: () => void }) {
  const { data, problem, loading, reload } = useLoad((signal) => call("memory_account", { path: { id }, signal }), [id]);
  if (problem && (!data || problem.status === 404)) return <Failure problem={problem} retry={reload} />;
  if (!data || (loading && data.memory.id !== id)) return <Skeleton lines={8} />;
  const memory = data.memory;
  return (
    <article class="memory" aria-label={t("memory.one")}>
      <div class="row-meta">
        <KindBadge kind={memory.kind} />
        <StatusBadge status={memory.status} />
        {memory.needs_review && <Badge tone="warn">{t("memory.needs_review")}</Badge>}
        {memory.pinned && <Badge tone="accent">{t("memory.pinned")}</Badge>}
        {memory.verified && <Badge tone="good">{t("memory.verified")}</Badge>}
        {memory.flagged && <Badge tone="bad">{t("memory.flagged")}</Badge>}
      </div>
      <p class="memory-text">{memory.content}</p>
      <Provenance memory={memory} />
      <Actions memory={memory} onGone={onGone} />
      <Facts memory={memory} now={data.confidence_now} />
      <Fading points={data.fading} />
      <Links own={memory.id} links={[...data.points_at, ...data.pointed_at_by]} />
      <Story entries={data.history} />
    </article>
  );
}

function Actions({ memory, onGone }: { memory: WholeMemory; onGone?: () => void }) {
  const [open, setOpen] = useState<"correct" | "edit" | "forget" | null>(null);
  const close = () => setOpen(null);
  useKeys(
    [
      { keys: "c", about: "do.confirm", run: () => void act("confirm", memory) },
      { keys: "x", about: "do.correct", run: () => setOpen("correct") },
      { keys: "d", about: "do.dispute", run: () => void act("dispute", memory) },
      { keys: "r", about: "do.reject", run: () => void act("reject", memory) },
      { keys: "p", about: "do.pin", run: () => void act(memory.pinned ? "unpin" : "pin", memory) },
      { keys: "e", about: "do.edit", run: () => setOpen("edit") },
    ],
    [memory],
  );
  return (
    <div class="actions">
      <Button icon="check" look="main" onClick={() => void act("confirm", memory)}>
        {t("do.confirm")}
      </Button>
      <Button icon="pen" onClick={() => setOpen("correct")}>
        {t("do.correct")}
      </Button>
      <Button icon="flag" onClick={() => void act("dispute", memory)}>
        {t("do.dispute")}
      </Button>
      <Button icon="pin" onClick={() => void act(memory.pinned ? "unpin" : "pin", memory)}>
        {t(memory.pinned ? "do.unpin" : "do.pin")}
      </Button>
      <Button icon="cross" onClick={() => void act("reject", memory)}>
        {t("do.reject")}
      </Button>
      <Button look="quiet" onClick={() => setOpen("edit")}>
        {t("do.edit")}
      </Button>
      <Button look="danger" icon="trash" onClick={() => setOpen("forget")}>
        {t("do.forget")}
      </Button>
      {open === "correct" && <CorrectDialog memory={memory} onClose={close} />}
      {open === "edit" && <EditDialog memory={memory} onClose={close} />}
      {open === "forget" && (
        <ForgetDialog
          text={memory.content}
          onClose={close}
          onForget={async () => {
            if (await forget(memory)) onGone?.();
          }}
        />
      )}
    </div>
  );
}

/** Forgetting cannot be undone, so it is asked for twice. */
export function ForgetDialog({ text, onForget, onClose }: { text: string; onForget: () => Promise<void>; onClose: () => void }) {
  return (
    <Dialog title={t("forget.title")} onClose={onClose}>
      <blockquote class="quoted">{text}</blockquote>
      <p>{t("forget.about")}</p>
      <footer>
        <Button onClick={onClose}>{t("cancel")}</Button>
        <Button
          look="danger"
          icon="trash"
          onClick={async () => {
            onClose();
            await onForget();
          }}
        >
          {t("forget.sure")}
        </Button>
      </footer>
    </Dialog>
  );
}

function Facts({ memory, now }: { memory: WholeMemory; now: number }) {
  const rows: [string, preact.ComponentChildren][] = [
    [t("memory.confidence"), <><Dots value={now} /> {percent(now)}</>],
    [t("memory.used"), memory.access_count ? `${t("memory.times", { n: memory.access_count })} · ${ago(memory.accessed_at)}` : t("memory.never_used")],
    [t("memory.scope"), `${named("scope", memory.scope)} · ${named("visibility", memory.visibility)}`],
  ];
  if (memory.files?.length) rows.push([t("memory.files"), <Terms values={memory.files} name="file" />]);
  if (memory.modules?.length) rows.push([t("memory.modules"), <Terms values={memory.modules} name="module" />]);
  if (memory.tags?.length) rows.push([t("memory.tags"), <Terms values={memory.tags} name="tag" />]);
  if (memory.entities?.length) rows.push([t("memory.entities"), <Terms values={memory.entities} name="entity" />]);
  if (memory.user) rows.push([t("memory.user"), memory.user]);
  if (memory.event_at) rows.push([t("memory.happened"), date(memory.event_at)]);
  if (memory.valid_until) rows.push([t("memory.valid_until"), date(memory.valid_until)]);
  if (memory.stale_at) rows.push([t("memory.stale"), date(memory.stale_at)]);
  if (memory.citation) rows.push([t("memory.citation"), memory.citation]);
  rows.push([t("memory.id"), <code class="selectable">{memory.id}</code>]);
  return (
    <dl class="facts">
      {rows.map(([name, value]) => (
        <div key={name}>
          <dt>{name}</dt>
          <dd>{value}</dd>
        </div>
      ))}
    </dl>
  );
}

/** Values that lead to everything else that carries them. */
function Terms({ values, name }: { values: string[]; name: string }) {
  return (
    <span class="terms">
      {values.slice(0, 12).map((value) => (
        <a key={value} class="term" href={`/memories?${name}=${encodeURIComponent(value)}`}>
          {value}
        </a>
      ))}
      {values.length > 12 && <span class="dim">{t("and_more", { n: values.length - 12 })}</span>}
    </span>
  );
}

function Fading({ points }: { points: { day: number; confidence: number }[] }) {
  const first = points[0]?.confidence ?? 0;
  const last = points.at(-1)?.confidence ?? 0;
  return (
    <section>
      <h2 class="sub">{t("memory.fading")}</h2>
      {first === last ? <p class="dim">{t("memory.never_fades")}</p> : <Curve points={points} label={t("memory.fading_label")} />}
    </section>
  );
}

function Links({ own, links }: { own: string; links: LinkShape[] }) {
  if (links.length === 0) return null;
  return (
    <section>
      <h2 class="sub">{t("memory.links")}</h2>
      <ul class="plain-list">
        {links.slice(0, 20).map((link, at) => {
          const isOut = link.source === own;
          const other = isOut ? (link.target ?? "") : link.source;
          return (
            <li key={at}>
              <span class="dim">{named(isOut ? "relation" : "relation_back", link.relation)}</span>{" "}
              {other ? <a href={`/memories/${encodeURIComponent(other)}`}><code>{other}</code></a> : <code>{link.file}</code>}
            </li>
          );
        })}
      </ul>
    </section>
  );
}

/** The story of the belief: every change, who made it, by which door and why. */
export function Story({ entries }: { entries: EntryShape[] }) {
  if (entries.length === 0) return null;
  return (
    <section>
      <h2 class="sub">{t("memory.story")}</h2>
      <ol class="story">
        {[...entries].reverse().map((entry) => (
          <li key={entry.number}>
            <div class="story-head">
              <strong>{named("action", entry.action)}</strong>
              <When at={entry.at} />
            </div>
            <div class="dim">
              {[entry.actor, entry.door ? named("door", entry.door) : ""].filter(Boolean).join(" · ")}
            </div>
            {entry.why && <div>{entry.why}</div>}
            <Change entry={entry} />
          </li>
        ))}
      </ol>
    </section>
  );
}

function Change({ entry }: { entry: EntryShape }) {
  const before = entry.before ?? {};
  const after = entry.after ?? {};
  const names = Object.keys(after).filter((name) => name in before && shown(before[name]) !== shown(after[name]));
  if (names.length === 0) return null;
  return (
    <ul class="changes">
      {names.slice(0, 6).map((name) => (
        <li key={name}>
          <span class="dim">{named("field", name)}:</span> <del>{shown(before[name])}</del> <ins>{shown(after[name])}</ins>
        </li>
      ))}
    </ul>
  );
}

function shown(value: unknown): string {
  if (value === null || value === undefined || value === "") return "—";
  if (typeof value === "number") return number(value);
  const text = typeof value === "string" ? value : JSON.stringify(value);
  return text.length > 160 ? `${text.slice(0, 160)}…` : text;
}
