/** Review: the one queue of what waits for a person, with the evidence beside the claim. Made for the keyboard. */
import { useState } from "preact/hooks";
import type { ReviewEvidenceShape, ReviewItemShape, WholeMemory } from "../api";
import { call } from "../client";
import { useLoad } from "../hooks";
import { useKeys } from "../keys";
import { Badge, Button, Empty, Failure, Kbd, KindBadge, Skeleton, When } from "../parts/basic";
import { type Choice, decideItem, Rewrite, takeBack } from "../parts/decide";
import { Provenance, Story } from "../parts/memory";
import { go, place, withQuery } from "../router";
import { named, number, t } from "../words";

const GROUPINGS = ["question", "subject", "file", "module", "kind"] as const;
type Grouping = (typeof GROUPINGS)[number];

export function Review({ id }: { id: string | null }) {
  const query = place.value.query;
  const by = (query.get("by") as Grouping | null) ?? "question";
  const group = query.get("group");
  const about = query.get("session");
  const filter = { ...(group ? { by, group } : {}), ...(about ? { session: [about] } : {}) };
  const page = useLoad((signal) => call("list_review", { query: { ...filter, limit: 100 }, signal }), [filter]);
  const items = page.data?.items ?? [];
  const chosen = items.find((item) => item.id === id) ?? items[0];
  const at = chosen ? items.indexOf(chosen) : -1;
  const open = (item?: ReviewItemShape) => item && go(withQuery({}, `/review/${encodeURIComponent(item.id)}`), { replace: true });
  useKeys(
    [
      { keys: "j", about: "key.next", run: () => open(items[Math.min(items.length - 1, at + 1)]) },
      { keys: "k", about: "key.previous", run: () => open(items[Math.max(0, at - 1)]) },
      { keys: "u", about: "key.undo", run: () => void takeBack() },
    ],
    [items, at],
  );
  if (page.problem && !page.data) return <Failure problem={page.problem} retry={page.reload} />;
  if (!page.data) return <Skeleton lines={10} />;
  if (items.length === 0) {
    return (
      <Empty icon="check" title={t(group || about ? "review.none_here" : "review.none")}>
        <p>{t("review.none_about")}</p>
        {(group || about) && (
          <a class="button" href="/review">
            {t("review.all")}
          </a>
        )}
      </Empty>
    );
  }
  return (
    <div class={id ? "queue with-card" : "queue"}>
      <section class="queue-list" aria-label={t("review.queue")}>
        <div class="rows-head">
          <h1>{t("nav.review")}</h1>
          <span class="dim">{t("review.count", { n: page.data.total })}</span>
        </div>
        <Groups by={by} group={group} />
        <ul>
          {items.map((item) => (
            <li key={item.id}>
              <a class={item === chosen ? "queue-row chosen" : "queue-row"} aria-current={item === chosen ? "true" : undefined} href={withQuery({}, `/review/${encodeURIComponent(item.id)}`)}>
                <span class="row-text">{item.memory.content}</span>
                <span class="row-meta">
                  <Badge tone={item.question === "contradiction" || item.question === "dispute" ? "bad" : "warn"}>{named("question", item.question)}</Badge>
                  <span class="row-more">{named("kind", item.memory.kind)}</span>
                </span>
              </a>
            </li>
          ))}
        </ul>
      </section>
      {chosen && (
        <Item
          key={chosen.id}
          item={chosen}
          onBack={() => go(withQuery({}, "/review"))}
          onDecided={() => open(items[at + 1] ?? items[at - 1])}
        />
      )}
    </div>
  );
}

function Groups({ by, group }: { by: Grouping; group: string | null }) {
  const { data } = useLoad((signal) => call("group_review", { query: { by }, signal }), [by]);
  const groups = data?.groups ?? [];
  return (
    <div class="groups">
      <label>
        <span class="only-read">{t("review.group_by")}</span>
        <select value={by} onChange={(event) => go(withQuery({ by: event.currentTarget.value, group: null }, "/review"), { replace: true })}>
          {GROUPINGS.map((one) => (
            <option key={one} value={one}>
              {t(`grouping.${one}`)}
            </option>
          ))}
        </select>
      </label>
      <label>
        <span class="only-read">{t("review.group")}</span>
        <select value={group ?? ""} onChange={(event) => go(withQuery({ group: event.currentTarget.value || null }, "/review"), { replace: true })}>
          <option value="">{t("review.all")}</option>
          {groups.slice(0, 100).map((one) => (
            <option key={one.name} value={one.name}>
              {by === "question" || by === "kind" ? named(by, one.name) : one.name} ({one.count})
            </option>
          ))}
        </select>
      </label>
    </div>
  );
}

function Item({ item, onDecided, onBack }: { item: ReviewItemShape; onDecided: () => void; onBack: () => void }) {
  const [isEditing, setEditing] = useState(false);
  const [busy, setBusy] = useState(false);
  const evidence = useLoad((signal) => call("review_evidence", { path: { id: item.id }, signal }), [item.id]);
  const decide = async (decision: Choice, content?: string) => {
    if (busy) return;
    setBusy(true);
    const isDone = await decideItem(item, decision, content);
    setBusy(false);
    if (!isDone) return;
    setEditing(false);
    onDecided();
  };
  const hasRivals = item.rivals.length > 0;
  useKeys(
    [
      { keys: "c", about: "do.confirm", run: () => void decide("confirm") },
      { keys: "r", about: "do.reject", run: () => void decide("reject") },
      { keys: "e", about: "do.edit", run: () => setEditing(true) },
      { keys: "d", about: "do.dispute", run: () => void decide("dispute") },
      ...(hasRivals ? [{ keys: "b", about: "do.keep_both" as const, run: () => void decide("keep_both") }] : []),
      { keys: "l", about: "do.later" as const, run: onDecided },
    ],
    [item, busy],
  );
  return (
    <section class="pane review-pane" aria-label={t("review.item")}>
      <div class="pane-head narrow-only">
        <Button look="quiet" icon="chevron" label={t("review.queue")} onClick={onBack} />
      </div>
      <p class="question">{t(`question_about.${item.question}`)}</p>
      <Claim memory={item.memory} label={t("review.claim")} />
      {item.rivals.map((rival) => (
        <Claim key={rival.id} memory={rival} label={t("review.rival")} isRival />
      ))}
      {item.tainted && <p class="note bad">{t("review.tainted")}</p>}
      <div class="actions" role="toolbar" aria-label={t("review.decide")}>
        <Button look="main" icon="check" disabled={busy} onClick={() => void decide("confirm")}>
          {t("do.confirm")} <Kbd keys="c" />
        </Button>
        <Button icon="cross" disabled={busy} onClick={() => void decide("reject")}>
          {t("do.reject")} <Kbd keys="r" />
        </Button>
        <Button icon="pen" disabled={busy} onClick={() => setEditing(true)}>
          {t("do.edit")} <Kbd keys="e" />
        </Button>
        {hasRivals && (
          <Button disabled={busy} onClick={() => void decide("keep_both")}>
            {t("do.keep_both")} <Kbd keys="b" />
          </Button>
        )}
        <Button look="quiet" onClick={onDecided}>
          {t("do.later")} <Kbd keys="l" />
        </Button>
        <Button look="quiet" icon="undo" onClick={() => void takeBack()}>
          {t("undo")} <Kbd keys="u" />
        </Button>
      </div>
      <Evidence item={item} data={evidence.data} />
      {isEditing && <Rewrite item={item} onClose={() => setEditing(false)} onSave={(content) => void decide("edit", content)} />}
    </section>
  );
}

function Claim({ memory, label, isRival }: { memory: WholeMemory; label: string; isRival?: boolean }) {
  return (
    <article class={isRival ? "claim rival" : "claim"}>
      <div class="row-meta">
        <span class="dim">{label}</span>
        <KindBadge kind={memory.kind} />
      </div>
      <p class="memory-text">{memory.content}</p>
      <Provenance memory={memory} />
      <a href={`/memories/${encodeURIComponent(memory.id)}`}>{t("review.whole")}</a>
    </article>
  );
}

function Evidence({ item, data }: { item: ReviewItemShape; data: ReviewEvidenceShape | null }) {
  if (!data) return <Skeleton lines={4} />;
  return (
    <>
      <section>
        <h2 class="sub">{t("review.evidence")}</h2>
        <p class="dim">
          {data.times > 0 && t("review.seen", { n: data.times })}
          {item.saves_tokens > 0 && <> · {t("review.saves", { n: item.saves_tokens })}</>}
          {item.spoken && <> · {t("review.spoken")}</>}
        </p>
        {data.sightings.length + data.sources.length === 0 && <p class="dim">{t("review.no_evidence")}</p>}
        <ul class={data.sightings.length + data.sources.length > 0 ? "sightings" : ""}>
          {data.sightings.slice(0, 12).map((one, at) => (
            <li key={at}>
              <div class="story-head">
                {one.session ? <a href={`/sessions/${encodeURIComponent(one.session)}`}>{t("memory.session", { id: one.session.slice(0, 12) })}</a> : <span />}
                {one.at && <When at={one.at} />}
              </div>
              {one.prompt && <p class="quoted">{one.prompt}</p>}
              {one.steps && one.steps.length > 0 && <span class="dim">{t("review.steps", { steps: one.steps.map(number).join(", ") })}</span>}
              {one.taint && <Badge tone="bad">{one.taint}</Badge>}
            </li>
          ))}
          {data.sources.slice(0, 8).map((source) => (
            <li key={source.id}>
              <a href={`/memories/${encodeURIComponent(source.id)}`}>{source.content}</a>
              <div class="dim">{named("source", source.source)}</div>
            </li>
          ))}
        </ul>
      </section>
      <Story entries={data.history} />
    </>
  );
}
