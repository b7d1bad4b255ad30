/** Home: how the memory is doing, what needs a person, what happened. */
import { useState } from "preact/hooks";
import type { GrowthShape, HealthShape, ReasonShape } from "../api";
import { call } from "../client";
import { useLoad } from "../hooks";
import { Button, Card, Command, Empty, Failure, Segments, Skeleton, When } from "../parts/basic";
import { Meter, Ring, Shares, StackedBars } from "../parts/chart";
import { Icon, type IconName } from "../parts/icons";
import { connection } from "../state";
import { bytes, named, number, t, type Key } from "../words";
import { teach } from "./teach";

const DAYS = 30;

export function Home() {
  const health = useLoad((signal) => call("read_health", { signal }), []);
  if (health.problem && !health.data) return <Failure problem={health.problem} retry={health.reload} />;
  if (!health.data) return <Skeleton lines={10} />;
  if (health.data.total === 0) return <FirstRun />;
  return (
    <div class="home">
      <Overview health={health.data} />
      <div class="columns">
        <Activity />
        <Attention reasons={health.data.reasons} />
      </div>
      <div class="columns several">
        <Held />
        <Covered />
        <Latest />
        <Limits growth={health.data.growth} />
      </div>
    </div>
  );
}

function FirstRun() {
  return (
    <Empty icon="spark" title={t("first.title")}>
      <p>{t("first.about")}</p>
      <ol class="steps">
        <li>
          {t("first.install")} <Command text="recollect install claude-code" />
        </li>
        <li>
          {t("first.index")} <Command text="recollect code index" />
        </li>
        <li>
          {t("first.rules")} <Command text="recollect import rules" />
        </li>
      </ol>
      <Button look="main" icon="plus" onClick={teach}>
        {t("teach.title")}
      </Button>
    </Empty>
  );
}

function Overview({ health }: { health: HealthShape }) {
  const words: Key = health.score >= 80 ? "health.good" : health.score >= 50 ? "health.fair" : "health.poor";
  const saved = useLoad((signal) => call("read_saved", { query: { days: DAYS }, signal }), []);
  return (
    <section class="card overview" aria-label={t("health.title")}>
      <Ring score={health.score} label={t("health.score", { n: health.score })} />
      <div class="overview-words">
        <h1>{t(words)}</h1>
        <p class="dim">
          {health.reasons.length === 0 ? t("health.nothing") : t("health.reasons", { n: health.reasons.length })}
          {connection.value === "live" && <> {t("health.live")}</>}
        </p>
      </div>
      <dl class="stats">
        <Stat name={t("stat.total")} value={number(health.total)} href="/memories" />
        <Stat name={t("stat.active")} value={number(health.active)} href="/memories?order=accessed" />
        <Stat name={t("stat.review")} value={number(health.to_review)} href="/review" />
        <Stat name={t("stat.saved")} value={saved.data ? number(saved.data.tokens) : "–"} href="/sessions" />
      </dl>
    </section>
  );
}

function Stat({ name, value, href }: { name: string; value: string; href: string }) {
  return (
    <div class="stat">
      <dt>{name}</dt>
      <dd>
        <a href={href}>{value}</a>
      </dd>
    </div>
  );
}

/** What helps with each reason: a view of the panel where there is one, else a command. */
const WAYS: Record<string, { href: string; text: Key; icon: IconName }> = {
  review: { href: "/review", text: "attention.review", icon: "review" },
  disputed: { href: "/memories?status=disputed", text: "attention.see", icon: "flag" },
  stale: { href: "/review", text: "attention.review", icon: "clock" },
  unused: { href: "/memories?order=oldest", text: "attention.see", icon: "clock" },
  jobs: { href: "/settings/jobs", text: "attention.jobs", icon: "wrench" },
  foreign: { href: "/settings/stores", text: "attention.adopt", icon: "warning" },
  vectors: { href: "/settings/jobs", text: "attention.jobs", icon: "wrench" },
  backup: { href: "/settings/backups", text: "attention.backup", icon: "copy" },
  growth: { href: "/settings/stores", text: "attention.limits", icon: "warning" },
};

function Attention({ reasons }: { reasons: ReasonShape[] }) {
  return (
    <Card title={t("attention.title")} id="attention">
      {reasons.length === 0 ? (
        <p class="all-good">
          <Icon name="check" /> {t("attention.none")}
        </p>
      ) : (
        <ul class="attention">
          {reasons.map((one) => {
            const way = WAYS[one.code];
            return (
              <li key={one.code}>
                <Icon name={way?.icon ?? "warning"} />
                <div>
                  <strong>{reasonWords(one)}</strong>
                  <span class="dim">{t("attention.points", { n: one.points })}</span>
                </div>
                {way ? (
                  <a class="button small" href={way.href}>
                    {t(way.text)}
                  </a>
                ) : (
                  <Command text={one.action} />
                )}
              </li>
            );
          })}
        </ul>
      )}
    </Card>
  );
}

const REASON_WORDS: Record<string, Key> = {
  review: "reason_of.review",
  disputed: "reason_of.disputed",
  stale: "reason_of.stale",
  unused: "reason_of.unused",
  jobs: "reason_of.jobs",
  foreign: "reason_of.foreign",
  vectors: "reason_of.vectors",
  backup: "reason_of.backup",
  growth: "reason_of.growth",
};

function reasonWords(one: ReasonShape): string {
  const key = REASON_WORDS[one.code];
  return key ? t(key, { n: one.count }) : one.text;
}

type What = "kinds" | "sources" | "acts" | "told";
const INDEXED = new Set(["passage", "indexed", "index"]); // thousands at a time would hide everything else
const LISTS: Record<What, string> = { kinds: "kind", sources: "source", acts: "action", told: "moment" };

function Activity() {
  const [what, setWhat] = useState<What>("kinds");
  const { data, problem, reload } = useLoad((signal) => call("read_activity", { query: { days: DAYS }, signal }), []);
  const bars = (data?.[what] ?? []).filter((bar) => !INDEXED.has(bar.name));
  const choose = (
    <Segments
      label={t("activity.what")}
      value={what}
      choices={(["kinds", "sources", "acts", "told"] as const).map((value) => ({ value, text: t(`activity.${value}`) }))}
      onChoose={setWhat}
    />
  );
  return (
    <Card title={t("activity.title")} aside={choose} id="activity">
      {problem && !data ? (
        <Failure problem={problem} retry={reload} />
      ) : !data ? (
        <Skeleton lines={5} />
      ) : bars.length === 0 ? (
        <p class="dim pad">{t("activity.none")}</p>
      ) : (
        <StackedBars since={data.since} count={DAYS} bars={bars} list={LISTS[what]} label={t("activity.label", { n: DAYS })} />
      )}
      {what !== "told" && <p class="dim small">{t("activity.without")}</p>}
    </Card>
  );
}

function Held() {
  const [what, setWhat] = useState<"kind" | "source">("kind");
  const { data } = useLoad((signal) => call("count_facets", { query: { limit: 8 }, signal }), []);
  const choose = (
    <Segments
      label={t("held.title")}
      value={what}
      choices={[
        { value: "kind", text: t("activity.kinds") },
        { value: "source", text: t("activity.sources") },
      ]}
      onChoose={setWhat}
    />
  );
  return (
    <Card title={t("held.title")} aside={choose} id="held">
      {data ? <Shares values={data.facets[what] ?? []} list={what} href={(value) => `/memories?${what}=${encodeURIComponent(value)}`} /> : <Skeleton lines={6} />}
    </Card>
  );
}

const MODULES = 6;
const COVERED_FILES = 2; // files that one memory covers: the map draws the same

/** How much is known about the largest modules. Without an index of the code there is nothing to say. */
function Covered() {
  const { data, problem } = useLoad((signal) => call("code_map", { signal }), [], { live: false });
  if (problem || data?.modules.length === 0) return null;
  const modules = [...(data?.modules ?? [])].sort((a, b) => b.symbols - a.symbols || a.path.localeCompare(b.path)).slice(0, MODULES);
  return (
    <Card title={t("covered.title")} aside={<a href="/map">{t("nav.map")}</a>} id="covered">
      {data ? (
        <ul class="limits">
          {modules.map((one) => {
            const share = Math.min(1, (one.memories * COVERED_FILES) / Math.max(1, one.files));
            const words = t("memories.count", { n: one.memories });
            return (
              <li key={one.path}>
                <a class="path" href={`/map?module=${encodeURIComponent(one.path)}`}>
                  {one.path}
                </a>
                <span class="dim">{words}</span>
                <Meter share={share} tone="good" label={`${one.path}: ${words}`} />
              </li>
            );
          })}
        </ul>
      ) : (
        <Skeleton lines={6} />
      )}
    </Card>
  );
}

function Latest() {
  const { data } = useLoad((signal) => call("list_changes", { query: { limit: 200 }, signal }), []);
  const entries = (data?.entries ?? []).filter((entry) => !INDEXED.has(entry.action)).slice(0, 9);
  return (
    <Card title={t("latest.title")} id="latest">
      {!data ? (
        <Skeleton lines={6} />
      ) : (
        <ul class="latest">
          {entries.map((entry) => (
            <li key={entry.number}>
              <span>
                {entry.memory ? <a href={`/memories/${encodeURIComponent(entry.memory)}`}>{named("action", entry.action)}</a> : named("action", entry.action)}{" "}
                <span class="dim">{[entry.actor, entry.door ? named("door", entry.door) : ""].filter(Boolean).join(" · ")}</span>
              </span>
              <When at={entry.at} />
            </li>
          ))}
        </ul>
      )}
    </Card>
  );
}

function Limits({ growth }: { growth: GrowthShape[] }) {
  const passed = growth.some((one) => one.passed);
  return (
    <Card title={t("limits.title")} id="limits">
      <ul class="limits">
        {growth.map((one) => {
          const share = one.value / one.limit;
          const show = one.name === "bytes" ? bytes : number;
          const words = t("limits.of", { value: show(one.value), limit: show(one.limit) });
          return (
            <li key={one.name}>
              <span>{named("limit", one.name)}</span>
              <span class="dim">{words}</span>
              <Meter share={share} tone={one.passed ? "bad" : share > 0.8 ? "warn" : "good"} label={`${named("limit", one.name)}: ${words}`} />
            </li>
          );
        })}
      </ul>
      <p class="dim">{t(passed ? "limits.passed" : "limits.fine")}</p>
      {passed && <Command text="recollect migrate . postgresql://…" />}
    </Card>
  );
}
