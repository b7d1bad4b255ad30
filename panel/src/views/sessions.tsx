/** Sessions: what agents did, what they were told and whether it helped, what was learnt; and conversations. */
import type { SeenSessionShape, SessionStoryShape, WholeMemory } from "../api";
import { call } from "../client";
import { useLoad } from "../hooks";
import { Badge, Button, Card, Command, Empty, Failure, KindBadge, Segments, Skeleton, StatusBadge, When } from "../parts/basic";
import { Icon, type IconName } from "../parts/icons";
import { go, place, withQuery } from "../router";
import { clock, date, named, number, t } from "../words";

type Tab = "agents" | "talks" | "entities";
const TABS: Tab[] = ["agents", "talks", "entities"];

export function Sessions({ id }: { id: string | null }) {
  const tab = (place.value.query.get("tab") as Tab | null) ?? "agents";
  if (id) return tab === "talks" ? <Talk id={id} /> : <Story id={id} />;
  return (
    <div class="reading wide">
      <div class="view-head">
        <h1>{t("nav.sessions")}</h1>
        <span class="grow" />
        <Segments label={t("nav.sessions")} value={tab} choices={TABS.map((value) => ({ value, text: t(`sessions.${value}`) }))} onChoose={(value) => go(withQuery({ tab: value, name: null }))} />
      </div>
      {tab === "agents" ? <Agents /> : tab === "talks" ? <Talks /> : <Entities />}
    </div>
  );
}

function Agents() {
  const { data, problem, reload } = useLoad((signal) => call("read_observer", { signal }), []);
  if (problem && !data) return <Failure problem={problem} retry={reload} />;
  if (!data) return <Skeleton lines={10} />;
  if (data.latest.length === 0) {
    return (
      <Empty icon="sessions" title={t("sessions.none")}>
        <p>{t("sessions.none_about")}</p>
        <Command text="recollect install claude-code" />
      </Empty>
    );
  }
  return (
    <>
      <p class="dim">{t("sessions.counts", { sessions: data.sessions, calls: data.calls, errors: data.errors, promoted: data.promoted })}</p>
      <ul class="session-list">
        {data.latest.map((one) => (
          <li key={one.id}>
            <a class="session-row" href={`/sessions/${encodeURIComponent(one.id)}`}>
              <span class="row-text">{one.prompt || t("sessions.no_prompt")}</span>
              <span class="row-meta">
                <Badge tone={outcomeTone(one.outcome)}>{named("outcome", one.outcome || "unknown")}</Badge>
                <span class="row-more">{one.host}</span>
                <span class="row-more">{t("sessions.calls", { n: one.calls })}</span>
                {one.errors > 0 && <span class="row-more bad-text">{t("sessions.errors", { n: one.errors })}</span>}
                {one.started && <When at={one.started} />}
              </span>
            </a>
          </li>
        ))}
      </ul>
    </>
  );
}

function outcomeTone(outcome: string): "good" | "bad" | "plain" {
  return outcome === "success" ? "good" : outcome === "failure" || outcome === "abandoned" ? "bad" : "plain";
}

// --- one session of an agent -----------------------------------------------------------------------------------------

type Moment = { at: string; icon: IconName; title: string; text: string; href?: string; tone?: string };

function Story({ id }: { id: string }) {
  const { data, problem, reload } = useLoad((signal) => call("read_observed_session", { query: { session: id }, signal }), [id]);
  if (problem && !data) {
    return problem.status === 404 ? <Talk id={id} /> : <Failure problem={problem} retry={reload} />;
  }
  if (!data) return <Skeleton lines={10} />;
  const { session, told, learned } = data;
  const used = told.filter((one) => one.status === "active");
  return (
    <div class="reading wide">
      <p>
        <a href="/sessions">{t("sessions.all")}</a>
      </p>
      <h1 class="session-title">{session.prompt || t("sessions.no_prompt")}</h1>
      <SessionFacts session={session} />
      <Card title={t("sessions.summary")} id="summary">
        <dl class="stats small">
          <Figure name={t("sessions.told")} value={told.length} />
          <Figure name={t("sessions.used")} value={used.length} />
          <Figure name={t("sessions.learned")} value={learned.length} />
          <Figure name={t("stat.saved")} value={data.saved_tokens} />
          <Figure name={t("sessions.waiting")} value={learned.filter((one) => one.needs_review).length} />
        </dl>
        {learned.some((one) => one.needs_review) && (
          <p>
            <a class="button main" href={`/review?session=${encodeURIComponent(id)}`}>
              {t("sessions.review")}
            </a>
          </p>
        )}
      </Card>
      <Timeline moments={moments(data)} />
      <Work data={data} />
      <Learned memories={learned} />
    </div>
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
    const tone = one.status === "active" ? "used" : "";
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

function Learned({ memories }: { memories: WholeMemory[] }) {
  return (
    <Card title={t("sessions.learned")} id="learned">
      {memories.length === 0 ? (
        <p class="dim">{t("sessions.learned_nothing")}</p>
      ) : (
        <ul class="plain-list spaced">
          {memories.map((one) => (
            <li key={one.id}>
              <a href={`/memories/${encodeURIComponent(one.id)}`}>{one.content}</a>
              <div class="row-meta">
                <KindBadge kind={one.kind} />
                <StatusBadge status={one.status} />
              </div>
            </li>
          ))}
        </ul>
      )}
    </Card>
  );
}

// --- conversations and who is spoken of ------------------------------------------------------------------------------

function Talks() {
  const { data, problem, reload } = useLoad((signal) => call("list_sessions", { query: { limit: 100 }, signal }), []);
  if (problem && !data) return <Failure problem={problem} retry={reload} />;
  if (!data) return <Skeleton lines={8} />;
  if (data.sessions.length === 0) {
    return (
      <Empty icon="ask" title={t("talks.none")}>
        <p>{t("talks.none_about")}</p>
        <Command text="recollect import conversations.json" />
      </Empty>
    );
  }
  return (
    <ul class="session-list">
      {data.sessions.map((one) => (
        <li key={one.id}>
          <a class="session-row" href={`/sessions/${encodeURIComponent(one.id)}?tab=talks`}>
            <span class="row-text">{one.id}</span>
            <span class="row-meta">
              <Badge>{named("talk", one.state)}</Badge>
              <span class="row-more">{t("talks.turns", { n: one.episodes })}</span>
              <When at={one.last_at} />
            </span>
          </a>
        </li>
      ))}
    </ul>
  );
}

function Talk({ id }: { id: string }) {
  const said = useLoad((signal) => call("list_episodes", { query: { session: id, limit: 200 }, signal }), [id]);
  const facts = useLoad((signal) => call("list_facts", { query: { session: id, limit: 100 }, signal }), [id]);
  if (said.problem && !said.data) return <Failure problem={said.problem} retry={said.reload} />;
  if (!said.data) return <Skeleton lines={8} />;
  return (
    <div class="reading wide">
      <p>
        <a href="/sessions?tab=talks">{t("talks.all")}</a>
      </p>
      <h1 class="session-title">{id}</h1>
      <Card title={t("talks.facts")} id="facts">
        {facts.data && facts.data.memories.length > 0 ? (
          <ul class="plain-list spaced">
            {facts.data.memories.map((one) => (
              <li key={one.id}>
                <a href={`/memories/${encodeURIComponent(one.id)}`}>{one.content}</a>
              </li>
            ))}
          </ul>
        ) : (
          <p class="dim">{t("talks.no_facts")}</p>
        )}
      </Card>
      <Card title={t("talks.said")} id="said">
        <ol class="talk">
          {said.data.memories.map((one) => (
            <li key={one.id} class={one.source_role === "user" ? "mine" : ""}>
              <div class="story-head">
                <strong>{one.source_role ?? ""}</strong>
                <When at={one.event_at ?? one.created_at} />
              </div>
              <a href={`/memories/${encodeURIComponent(one.id)}`}>{one.content}</a>
            </li>
          ))}
        </ol>
      </Card>
    </div>
  );
}

function Entities() {
  const name = place.value.query.get("name");
  const { data, problem, reload } = useLoad((signal) => call("list_entities", { query: { limit: 200 }, signal }), []);
  if (name) return <Entity name={name} />;
  if (problem && !data) return <Failure problem={problem} retry={reload} />;
  if (!data) return <Skeleton lines={8} />;
  if (data.entities.length === 0) {
    return (
      <Empty icon="person" title={t("entities.none")}>
        <p>{t("entities.none_about")}</p>
      </Empty>
    );
  }
  return (
    <ul class="entities">
      {data.entities.map((one) => (
        <li key={one.id}>
          <a class="card" href={withQuery({ name: one.name })}>
            <strong>{one.name}</strong>
            <span class="row-meta">
              <Badge>{named("entity", one.type)}</Badge>
              <span class="dim">{t("entities.mentions", { n: one.mentions })}</span>
            </span>
            {one.summary && <p class="dim">{one.summary}</p>}
          </a>
        </li>
      ))}
    </ul>
  );
}

function Entity({ name }: { name: string }) {
  const { data, problem, reload } = useLoad((signal) => call("get_entity", { query: { name, limit: 50 }, signal }), [name]);
  if (problem && !data) return <Failure problem={problem} retry={reload} />;
  if (!data) return <Skeleton lines={6} />;
  const others = [...data.entity.aliases, ...data.merged.map((one) => one.name)].filter((one) => one !== data.entity.name);
  return (
    <Card title={data.entity.name} id="entity" aside={<Button small onClick={() => go(withQuery({ name: null }))}>{t("entities.all")}</Button>}>
      <p class="row-meta">
        <Badge>{named("entity", data.entity.type)}</Badge>
        <span class="dim">{t("entities.mentions", { n: data.entity.mentions })}</span>
        {others.length > 0 && <span class="dim">{t("entities.also", { names: others.join(", ") })}</span>}
      </p>
      {data.entity.summary && <p>{data.entity.summary}</p>}
      <ul class="plain-list spaced">
        {data.memories.map((one) => (
          <li key={one.id}>
            <a href={`/memories/${encodeURIComponent(one.id)}`}>{one.content}</a>
          </li>
        ))}
      </ul>
    </Card>
  );
}
