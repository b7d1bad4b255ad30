/** One session of an agent: what it was told and whether it used it, what was learned, and what happened in order. */
import { useState } from "preact/hooks";
import { attempt } from "../acts";
import type { ReviewItemShape, SeenSessionShape, SessionStoryShape, WholeMemory } from "../api";
import { call } from "../client";
import { useLoad } from "../hooks";
import { Badge, Button, Card, Failure, KindBadge, Skeleton, StatusBadge } from "../parts/basic";
import { decideItem, Rewrite } from "../parts/decide";
import { Icon, type IconName } from "../parts/icons";
import { ToldList } from "../parts/told";
import { tell } from "../state";
import { clock, date, named, number, t } from "../words";
import { Talk } from "./talks";

export function outcomeTone(outcome: string): "good" | "bad" | "plain" {
  return outcome === "success" ? "good" : outcome === "failure" || outcome === "abandoned" ? "bad" : "plain";
}

export function AgentSession({ id }: { id: string }) {
  const { data, problem, reload } = useLoad((signal) => call("read_observed_session", { query: { session: id }, signal }), [id]);
  if (problem && !data) return problem.status === 404 ? <Unobserved id={id} /> : <Failure problem={problem} retry={reload} />;
  if (!data) return <Skeleton lines={10} />;
  return (
    <div class="reading wide">
      <p>
        <a href="/sessions">{t("sessions.all")}</a>
      </p>
      <h1 class="session-title">{data.session.prompt || t("sessions.no_prompt")}</h1>
      <SessionFacts session={data.session} />
      <EndReview id={id} data={data} />
      <Timeline moments={moments(data)} />
      <Work data={data} />
    </div>
  );
}

/** A session that is not over, or that nobody watched: what it was told is known, or it is a conversation. */
function Unobserved({ id }: { id: string }) {
  const { data } = useLoad((signal) => call("list_told", { query: { session: id, limit: 200 }, signal }), [id]);
  if (!data) return <Skeleton lines={6} />;
  if (data.told.length === 0) return <Talk id={id} />;
  return (
    <div class="reading wide">
      <p>
        <a href="/sessions?tab=told">{t("sessions.all")}</a>
      </p>
      <h1 class="session-title">{t("memory.session", { id })}</h1>
      <p class="dim">{t("told.not_over")}</p>
      <Card title={t("sessions.was_told")} id="told">
        <ToldList told={data.told} />
      </Card>
    </div>
  );
}

// --- the review at the end of a session ------------------------------------------------------------------------------

/** What was used, what was learned, what was saved; and a decision about each thing that waits. */
function EndReview({ id, data }: { id: string; data: SessionStoryShape }) {
  const queue = useLoad((signal) => call("list_review", { query: { session: [id], limit: 100 }, signal }), [id]);
  const waiting = queue.data?.items ?? [];
  const used = data.told.filter((one) => one.touched && one.touched.length > 0);
  const others = data.learned.filter((one) => !waiting.some((item) => item.id === one.id));
  return (
    <>
      <Card title={t("sessions.summary")} id="summary">
        <dl class="stats small">
          <Figure name={t("sessions.told")} value={data.told.length} />
          <Figure name={t("sessions.used")} value={used.length} />
          <Figure name={t("sessions.learned")} value={others.length + waiting.length} />
          <Figure name={t("sessions.waiting")} value={waiting.length} />
          <Figure name={t("stat.saved")} value={data.saved_tokens} />
        </dl>
      </Card>
      {data.told.length > 0 && (
        <Card title={t("sessions.was_told")} id="told">
          <ToldList told={data.told} />
        </Card>
      )}
      <Card title={t("sessions.learned")} id="learned" aside={waiting.length > 1 && <ConfirmAll items={waiting} />}>
        {waiting.length + others.length === 0 && <p class="dim">{t("sessions.learned_nothing")}</p>}
        <ul class="plain-list spaced">
          {waiting.map((item) => (
            <Waiting key={item.id} item={item} />
          ))}
          {others.map((one) => (
            <LearnedLine key={one.id} memory={one} />
          ))}
        </ul>
        {waiting.length > 0 && (
          <p>
            <a href={`/review?session=${encodeURIComponent(id)}`}>{t("sessions.review")}</a>
          </p>
        )}
      </Card>
    </>
  );
}

/** Confirm what waits, except what needs to be read closely: words from outside, and contradictions. */
function ConfirmAll({ items }: { items: ReviewItemShape[] }) {
  const [busy, setBusy] = useState(false);
  const plain = items.filter((item) => !item.tainted && item.rivals.length === 0);
  const confirm = async () => {
    setBusy(true);
    await attempt(async () => {
      for (const item of plain) await call("decide_review", { path: { id: item.id }, body: { decision: "confirm", seen: item.revisions } });
      tell(t("did.many", { n: plain.length, done: t("did.confirm") }));
    });
    setBusy(false);
  };
  return (
    <Button small icon="check" disabled={busy || plain.length === 0} onClick={() => void confirm()}>
      {t("sessions.confirm_all", { n: plain.length })}
    </Button>
  );
}

function Waiting({ item }: { item: ReviewItemShape }) {
  const [isEditing, setEditing] = useState(false);
  const [busy, setBusy] = useState(false);
  const decide = async (decision: "confirm" | "reject" | "edit", content?: string) => {
    setBusy(true);
    const isDone = await decideItem(item, decision, content);
    setBusy(false);
    if (isDone) setEditing(false);
  };
  return (
    <li>
      <LearnedWords memory={item.memory} />
      {item.tainted && <p class="note bad">{t("review.tainted")}</p>}
      <span class="actions">
        <Button small icon="check" disabled={busy} onClick={() => void decide("confirm")}>
          {t("do.confirm")}
        </Button>
        <Button small icon="pen" disabled={busy} onClick={() => setEditing(true)}>
          {t("do.edit")}
        </Button>
        <Button small icon="cross" disabled={busy} onClick={() => void decide("reject")}>
          {t("do.reject")}
        </Button>
      </span>
      {isEditing && <Rewrite item={item} onClose={() => setEditing(false)} onSave={(content) => void decide("edit", content)} />}
    </li>
  );
}

function LearnedLine({ memory }: { memory: WholeMemory }) {
  return (
    <li>
      <LearnedWords memory={memory} />
    </li>
  );
}

function LearnedWords({ memory }: { memory: WholeMemory }) {
  return (
    <>
      <a href={`/memories/${encodeURIComponent(memory.id)}`}>{memory.content}</a>
      <div class="row-meta">
        <KindBadge kind={memory.kind} />
        <StatusBadge status={memory.status} />
      </div>
    </>
  );
}

function Figure({ name, value }: { name: string; value: number }) {
  return (
    <div class="stat">
      <dt>{name}</dt>
      <dd>{number(value)}</dd>
    </div>
  );
}

function SessionFacts({ session }: { session: SeenSessionShape }) {
  const facts = [
    session.host,
    session.kind ? named("session_kind", session.kind) : "",
    named("outcome", session.outcome || "unknown"),
    t("sessions.calls", { n: session.calls }),
    t("sessions.errors", { n: session.errors }),
    session.branch,
    session.started ? date(session.started) : "",
  ];
  return (
    <p class="provenance">
      {facts.filter(Boolean).map((one) => (
        <span key={one}>{one}</span>
      ))}
      {session.taint && <Badge tone="warn">{t("sessions.taint", { what: session.taint })}</Badge>}
    </p>
  );
}

type Moment = { at: string; icon: IconName; title: string; text: string; href?: string; tone?: string };

/** What happened in order: the request, errors, everything the agent was told, the end. */
function moments({ session, told, errors }: SessionStoryShape): Moment[] {
  const found: Moment[] = [];
  const began = session.started ? new Date(session.started).getTime() : 0;
  const took = session.ended ? new Date(session.ended).getTime() - began : 0;
  if (session.started) found.push({ at: session.started, icon: "person", title: t("sessions.began"), text: session.prompt });
  for (const one of errors) {
    // Only steps are kept; where a step stands between beginning and end is close enough for an order.
    const step = one.steps[0] ?? 0;
    const at = new Date(began + (took * step) / Math.max(1, session.steps)).toISOString();
    const words = one.words ? `${one.tool} ${one.words}` : one.tool;
    const text = one.resolution ? `${one.example}\n${t("sessions.solved", { how: one.resolution })}` : one.example;
    found.push({ at, icon: "warning", title: `${t("sessions.error", { tool: words })} · ${t("sessions.step", { n: step })}`, text, tone: "error" });
  }
  for (const one of told) {
    const title = t("sessions.told_at", { moment: named("moment", one.moment) });
    const tone = one.touched && one.touched.length > 0 ? "used" : "";
    if (!one.id) found.push({ at: one.at, icon: "spark", title, text: one.content, tone }); // a warning tells no memory
    else found.push({ at: one.at, icon: "spark", title: `${title} · ${named("status", one.status || "expired")}`, text: one.content, href: `/memories/${encodeURIComponent(one.id)}`, tone });
  }
  if (session.ended) found.push({ at: session.ended, icon: "check", title: t("sessions.ended", { outcome: named("outcome", session.outcome || "unknown") }), text: "" });
  return found.sort((a, b) => a.at.localeCompare(b.at));
}

const MOST_ROWS = 12;

/** Which tools it used and which files it touched. */
function Work({ data }: { data: SessionStoryShape }) {
  return (
    <Card title={t("sessions.work")} id="work">
      <div class="columns even">
        <section>
          <h3>{t("sessions.files")}</h3>
          <ul class="latest">
            {data.files.slice(0, MOST_ROWS).map((one) => (
              <li key={one.path}>
                <a href={`/memories?file=${encodeURIComponent(one.path)}`}>{one.path}</a>
                <span class="dim">{t("sessions.read_edited", { reads: one.reads, edits: one.edits })}</span>
              </li>
            ))}
          </ul>
          {data.files.length > MOST_ROWS && <p class="dim">{t("and_more", { n: data.files.length - MOST_ROWS })}</p>}
        </section>
        <section>
          <h3>{t("sessions.tools")}</h3>
          <ul class="latest">
            {data.tools.slice(0, MOST_ROWS).map((one) => (
              <li key={`${one.tool} ${one.words}`}>
                <span>
                  {one.tool} <code>{one.words}</code>
                </span>
                <span class={one.errors > 0 ? "bad-text" : "dim"}>{one.errors > 0 ? t("sessions.errors", { n: one.errors }) : t("memory.times", { n: one.times })}</span>
              </li>
            ))}
          </ul>
        </section>
      </div>
    </Card>
  );
}

function Timeline({ moments: all }: { moments: Moment[] }) {
  return (
    <Card title={t("sessions.timeline")} id="timeline">
      <ol class="timeline">
        {all.map((one, at) => (
          <li key={at} class={one.tone}>
            <span class="timeline-icon">
              <Icon name={one.icon} size={14} />
            </span>
            <div>
              <div class="story-head">
                <strong>{one.title}</strong>
                <time dateTime={one.at} title={date(one.at)}>
                  {clock(one.at)}
                </time>
              </div>
              {one.text && (one.href ? <a href={one.href}>{one.text}</a> : <p class="quoted">{one.text}</p>)}
            </div>
          </li>
        ))}
      </ol>
    </Card>
  );
}
