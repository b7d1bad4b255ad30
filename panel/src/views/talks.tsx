/** Conversations with the facts drawn from them, and who and what is spoken of. */
import { call } from "../client";
import { useLoad } from "../hooks";
import { Badge, Button, Card, Command, Empty, Failure, Skeleton, When } from "../parts/basic";
import { go, place, withQuery } from "../router";
import { named, t } from "../words";

export function Talks() {
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

export function Talk({ id }: { id: string }) {
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

export function Entities() {
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
