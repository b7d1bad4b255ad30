/** Sessions: what agents did, what they were told, conversations, and who is spoken of. */
import type { ToldShape } from "../api";
import { call } from "../client";
import { useLoad } from "../hooks";
import { Badge, Command, Empty, Failure, Segments, Skeleton, When } from "../parts/basic";
import { ToldList } from "../parts/told";
import { go, place, withQuery } from "../router";
import { named, t } from "../words";
import { AgentSession, outcomeTone } from "./session";
import { Entities, Talk, Talks } from "./talks";

type Tab = "agents" | "told" | "talks" | "entities";
const TABS: Tab[] = ["agents", "told", "talks", "entities"];
const MOST_TOLD = 200;

export function Sessions({ id }: { id: string | null }) {
  const tab = (place.value.query.get("tab") as Tab | null) ?? "agents";
  if (id) return tab === "talks" ? <Talk id={id} /> : <AgentSession id={id} />;
  return (
    <div class="reading wide">
      <div class="view-head">
        <h1>{t("nav.sessions")}</h1>
        <span class="grow" />
        <Segments label={t("nav.sessions")} value={tab} choices={TABS.map((value) => ({ value, text: t(`sessions.${value}`) }))} onChoose={(value) => go(withQuery({ tab: value, name: null }))} />
      </div>
      {tab === "agents" ? <Agents /> : tab === "told" ? <Told /> : tab === "talks" ? <Talks /> : <Entities />}
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

/** What agents were told unasked, session by session, the latest first. */
function Told() {
  const { data, problem, reload } = useLoad((signal) => call("list_told", { query: { limit: MOST_TOLD }, signal }), []);
  if (problem && !data) return <Failure problem={problem} retry={reload} />;
  if (!data) return <Skeleton lines={8} />;
  if (data.told.length === 0) {
    return (
      <Empty icon="spark" title={t("told.none")}>
        <p>{t("told.none_about")}</p>
      </Empty>
    );
  }
  const sessions = new Map<string, ToldShape[]>();
  for (const one of data.told) sessions.set(one.session, [...(sessions.get(one.session) ?? []), one]);
  return (
    <>
      <p class="dim">{t("told.about")}</p>
      {[...sessions].map(([id, told]) => (
        <section key={id} class="card">
          <header>
            <h2>
              <a href={`/sessions/${encodeURIComponent(id)}`}>{t("memory.session", { id: id.slice(0, 12) })}</a>
            </h2>
            <span class="dim">{told[0]?.host}</span>
          </header>
          <ToldList told={told} />
        </section>
      ))}
    </>
  );
}
