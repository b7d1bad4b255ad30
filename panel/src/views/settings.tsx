/** Settings and data: how much agents are told, jobs, models and their cost, stores and backups, hosts. */
import { useState } from "preact/hooks";
import { attempt } from "../acts";
import type { JobShape, StoreShape, TrustLevelsShape, TrustShape } from "../api";
import { call, send } from "../client";
import { useLoad } from "../hooks";
import { Badge, Button, Card, Command, Failure, Skeleton, When } from "../parts/basic";
import { Meter } from "../parts/chart";
import { ToldList } from "../parts/told";
import { session, tell } from "../state";
import { bytes, date, named, number, t } from "../words";
import { Data } from "./data";

const SECTIONS = ["trust", "hosts", "jobs", "models", "stores", "backups", "data", "values"] as const;
type Section = (typeof SECTIONS)[number];

export function Settings({ section }: { section: string | null }) {
  const chosen: Section = SECTIONS.find((one) => one === section) ?? "trust";
  return (
    <div class="settings">
      <nav class="subnav" aria-label={t("nav.settings")}>
        <h1>{t("nav.settings")}</h1>
        <ul>
          {SECTIONS.map((one) => (
            <li key={one}>
              <a href={`/settings/${one}`} aria-current={one === chosen ? "page" : undefined}>
                {t(`settings.${one}`)}
              </a>
            </li>
          ))}
        </ul>
        <Button
          small
          look="quiet"
          onClick={() =>
            void attempt(async () => {
              await send("DELETE", "/v1/session");
              session.value = "out";
            })
          }
        >
          {t("settings.log_out")}
        </Button>
      </nav>
      <div class="settings-body">
        {chosen === "trust" && <Trust />}
        {chosen === "hosts" && <Hosts />}
        {chosen === "jobs" && <Jobs />}
        {chosen === "models" && <Models />}
        {chosen === "stores" && <Stores />}
        {chosen === "backups" && <Backups />}
        {chosen === "data" && <Data />}
        {chosen === "values" && <Values />}
      </div>
    </div>
  );
}

// --- trust -----------------------------------------------------------------------------------------------------------

const LEVELS: TrustShape["level"][] = ["cautious", "standard", "confident", "autonomous"];

function Trust() {
  const { data, problem, reload } = useLoad((signal) => call("read_settings", { signal }), []);
  const would = useLoad((signal) => call("compare_trust", { signal }), []);
  const [picked, setPicked] = useState<TrustShape["level"] | null>(null); // shown until the server has answered
  const choose = async (level: TrustShape["level"]) => {
    setPicked(level);
    if (await attempt(() => call("choose_trust", { body: { level } }))) {
      tell(t("trust.chosen", { level: t(`trust.${level}`) }));
      reload();
    } else {
      setPicked(null);
    }
  };
  if (problem && !data) return <Failure problem={problem} retry={reload} />;
  if (!data) return <Skeleton lines={8} />;
  const trust = data.trust;
  return (
    <Card title={t("settings.trust")} id="trust">
      <p>{t("trust.about")}</p>
      {trust.offered && <p class="note">{t("trust.offered", { level: named("trust", trust.offered) })}</p>}
      <fieldset class="reasons">
        <legend>{t("trust.choose")}</legend>
        {LEVELS.map((level) => (
          <label key={level} class={level === (picked ?? trust.level) ? "choice on" : "choice"}>
            <input type="radio" name="trust" checked={level === (picked ?? trust.level)} onChange={() => void choose(level)} />
            <span>
              <strong>{t(`trust.${level}`)}</strong>
              <span class="dim">{t(`trust.${level}.about`)}</span>
              {would.data && <Preview would={would.data} level={level} />}
            </span>
          </label>
        ))}
      </fieldset>
      <p class="dim">{t("trust.figures", { sessions: trust.sessions, confirmed: trust.confirmed, reviewed: trust.reviewed, corrected: trust.corrected, used: trust.used })}</p>
    </Card>
  );
}

/** What a level would have told in the last days, and what it may tell now. */
function Preview({ would, level }: { would: TrustLevelsShape; level: TrustShape["level"] }) {
  const own = would.levels.find((one) => one.level === level);
  if (!own) return null;
  return (
    <>
      <span class="would">
        {would.lately === 0 ? t("trust.nothing_lately", { days: would.days }) : t("trust.lately", { days: would.days, n: own.lately, all: would.lately })}{" "}
        {t("trust.would", { n: own.told, all: would.memories })}
      </span>
      {own.examples.length > 0 && (
        <details onClick={(event) => event.stopPropagation()}>
          <summary>{t("trust.withheld", { n: own.withheld })}</summary>
          <ToldList told={own.examples} />
        </details>
      )}
    </>
  );
}

function Hosts() {
  const { data, problem, reload } = useLoad((signal) => call("list_hosts", { signal }), []);
  if (problem && !data) return <Failure problem={problem} retry={reload} />;
  if (!data) return <Skeleton lines={6} />;
  return (
    <Card title={t("settings.hosts")} id="hosts">
      <p>{t("hosts.about")}</p>
      <ul class="rows-list">
        {data.hosts.map((host) => (
          <li key={host.name}>
            <div>
              <strong>{host.name}</strong>{" "}
              {host.state !== "absent" && <Badge tone={host.state === "current" ? "good" : "warn"}>{t(`hosts.${host.state}`)}</Badge>}
            </div>
            {host.state !== "current" && <Command text={`recollect install ${host.name}`} />}
          </li>
        ))}
      </ul>
      <p class="dim">{t("hosts.doctor")}</p>
      <Command text="recollect doctor" />
    </Card>
  );
}

// --- jobs ------------------------------------------------------------------------------------------------------------

function Jobs() {
  const jobs = useLoad((signal) => call("list_jobs", { signal }), []);
  const runs = useLoad((signal) => call("list_job_runs", { query: { limit: 20 }, signal }), []);
  const [running, setRunning] = useState("");
  const run = async (job: JobShape) => {
    setRunning(job.name);
    await attempt(async () => {
      const done = await call("run_job", { path: { name: job.name }, body: undefined });
      const report = done.reports[0];
      tell(t("jobs.ran", { name: named("job", job.name), n: report?.done ?? 0 }), { bad: report?.failed });
    });
    setRunning("");
    jobs.reload();
    runs.reload();
  };
  if (jobs.problem && !jobs.data) return <Failure problem={jobs.problem} retry={jobs.reload} />;
  if (!jobs.data) return <Skeleton lines={8} />;
  return (
    <>
      <Card title={t("settings.jobs")} id="jobs">
        <ul class="rows-list">
          {jobs.data.jobs.map((job) => (
            <li key={job.name}>
              <div>
                <strong>{named("job", job.name)}</strong>{" "}
                {job.outcome && <Badge tone={job.outcome === "failed" ? "bad" : "good"}>{named("job_outcome", job.outcome)}</Badge>}
                <div class="dim">
                  {job.ran_at ? t("jobs.last", { at: date(job.ran_at) }) : t("jobs.never")} · {nextRun(job)}
                </div>
                {job.note && <div class="dim">{job.note}</div>}
              </div>
              <Button small disabled={running !== ""} onClick={() => void run(job)}>
                {running === job.name ? t("jobs.running") : t("jobs.run")}
              </Button>
            </li>
          ))}
        </ul>
      </Card>
      <Card title={t("jobs.history")} id="job-runs">
        {runs.data && runs.data.entries.length > 0 ? (
          <ul class="latest">
            {runs.data.entries.map((entry) => (
              <li key={entry.number}>
                <span>
                  {named("job", String(entry.after?.job ?? ""))} <span class="dim">{named("job_outcome", String(entry.after?.outcome ?? ""))}</span>
                </span>
                <When at={entry.at} />
              </li>
            ))}
          </ul>
        ) : (
          <p class="dim">{t("jobs.no_history")}</p>
        )}
      </Card>
    </>
  );
}

/** When a job runs again by itself. */
function nextRun(job: JobShape): string {
  if (job.held_by) return t("jobs.running");
  if (job.always) return t("jobs.always");
  return new Date(job.next_at).getTime() <= Date.now() ? t("jobs.due") : t("jobs.next", { at: date(job.next_at) });
}

// --- models ----------------------------------------------------------------------------------------------------------

function Models() {
  const { data, problem, reload } = useLoad((signal) => call("read_models", { signal }), []);
  if (problem && !data) return <Failure problem={problem} retry={reload} />;
  if (!data) return <Skeleton lines={8} />;
  const share = data.tokens_per_day ? data.tokens_today / data.tokens_per_day : 0;
  const words = t("models.spent", { today: data.tokens_today, limit: data.tokens_per_day });
  return (
    <>
      <Card title={t("settings.models")} id="models">
        <dl class="facts">
          <div>
            <dt>{t("models.embedder")}</dt>
            <dd>{data.embedder}</dd>
          </div>
          <div>
            <dt>{t("models.vectors")}</dt>
            <dd>{data.vectors ?? t("models.no_vectors")}{data.waiting > 0 && <> · {t("models.waiting", { n: data.waiting })}</>}</dd>
          </div>
          <div>
            <dt>{t("models.reranker")}</dt>
            <dd>{data.reranker && data.reranker !== "none" ? data.reranker : t("none")}</dd>
          </div>
          <div>
            <dt>{t("models.model")}</dt>
            <dd>{data.model && data.model !== "none" ? data.model : t("models.no_model")}</dd>
          </div>
        </dl>
        <h3>{t("models.budget")}</h3>
        <Meter share={share} tone={share > 0.9 ? "bad" : share > 0.6 ? "warn" : "good"} label={words} />
        <p class="dim">{words}</p>
        <Spend />
      </Card>
      <Card title={t("models.packs")} id="packs">
        <ul class="rows-list">
          {data.packs.map((pack) => (
            <li key={pack.name}>
              <div>
                <strong>{pack.name}</strong>
                <div class="dim">
                  {[pack.model, pack.dims > 1 ? t("models.dims", { n: pack.dims }) : t("models.reranker"), bytes(pack.bytes), pack.licence].join(" · ")}
                </div>
              </div>
              {pack.state === "installed" ? <Badge tone="good">{t("hosts.installed")}</Badge> : <Command text={`recollect models install ${pack.name}`} />}
            </li>
          ))}
        </ul>
      </Card>
    </>
  );
}

type Cost = { feature: string; calls: number; tokens: number; failures: number };

/** What language models were asked for, and what that cost. */
function Spend() {
  const { data } = useLoad((signal) => call("read_status", { signal }), []);
  const costs = ((data?.spend.features ?? []) as Cost[]).filter((one) => one.calls > 0);
  if (costs.length === 0) return null;
  return (
    <ul class="latest">
      {costs.map((one) => (
        <li key={one.feature}>
          <span>{named("feature", one.feature)}</span>
          <span class="dim">{t("models.cost", { n: one.calls, tokens: one.tokens, failures: one.failures })}</span>
        </li>
      ))}
    </ul>
  );
}

// --- stores ----------------------------------------------------------------------------------------------------------

function useStores() {
  return useLoad((signal) => call("list_stores", { signal }), []);
}

function Stores() {
  const { data, problem, reload } = useStores();
  if (problem && !data) return <Failure problem={problem} retry={reload} />;
  if (!data) return <Skeleton lines={8} />;
  return (
    <>
      {data.stores.map((one) => (
        <Card key={one.name} title={t(`store.${one.name}`)} id={`store-${one.name}`}>
          {one.exists ? (
            <dl class="facts">
              <div>
                <dt>{t("stores.path")}</dt>
                <dd>
                  <code class="selectable">{one.path ?? t("stores.in_memory")}</code>
                </dd>
              </div>
              {one.bytes !== undefined && (
                <div>
                  <dt>{t("stores.size")}</dt>
                  <dd>{bytes(one.bytes)}</dd>
                </div>
              )}
              {one.memories && (
                <div>
                  <dt>{t("stat.total")}</dt>
                  <dd>
                    {Object.entries(one.memories)
                      .map(([status, count]) => `${number(count)} ${named("status", status).toLowerCase()}`)
                      .join(", ")}
                  </dd>
                </div>
              )}
            </dl>
          ) : (
            <p class="dim">{t("stores.not_yet")}</p>
          )}
          {one.notices?.map((notice) => (
            <p key={notice} class="note">
              {notice}
            </p>
          ))}
          {one.foreign && <Adopt onDone={reload} />}
        </Card>
      ))}
      <Projects />
      <CheckStore />
    </>
  );
}

/** What else is remembered on this computer. */
function Projects() {
  const { data } = useLoad((signal) => call("list_own_projects", { signal }), [], { live: false });
  if (!data || data.projects.length === 0) return null;
  return (
    <Card title={t("stores.projects")} id="projects">
      <ul class="rows-list">
        {data.projects.map((one) => (
          <li key={one.path}>
            <div>
              <strong>{one.personal ? t("store.personal") : one.project}</strong>
              <div class="dim path">{one.path}</div>
              {one.trouble && <div class="bad-text">{one.trouble}</div>}
            </div>
            <span class="dim">{t("memories.count", { n: one.memories })}</span>
          </li>
        ))}
      </ul>
    </Card>
  );
}

/** A store that came from elsewhere is looked at before it is trusted. */
function Adopt({ onDone }: { onDone: () => void }) {
  const state = useLoad((signal) => call("read_store_state", { signal }), [], { live: false });
  const adopt = async () => {
    if (state.data && (await attempt(() => call("adopt_store", { body: { state: state.data?.state ?? "" } })))) {
      tell(t("stores.adopted"));
      onDone();
    }
  };
  return (
    <div class="note bad">
      <p>
        <strong>{t("stores.foreign")}</strong> {t("stores.foreign_about")}
      </p>
      <Button look="main" disabled={!state.data} onClick={() => void adopt()}>
        {t("stores.adopt")}
      </Button>
    </div>
  );
}

function CheckStore() {
  const [words, setWords] = useState("");
  const [busy, setBusy] = useState(false);
  const check = async () => {
    setBusy(true);
    await attempt(async () => {
      const report = await call("check_store", { query: {} });
      setWords(report.ok ? t("stores.sound", { n: report.memories }) : t("stores.unsound", { n: report.findings.length }));
    });
    setBusy(false);
  };
  return (
    <Card title={t("stores.check")} id="check">
      <p>{t("stores.check_about")}</p>
      <Button disabled={busy} onClick={() => void check()}>
        {busy ? t("stores.checking") : t("stores.check_now")}
      </Button>
      {words && <p role="status">{words}</p>}
    </Card>
  );
}

type BackupFile = { path: string; memories: number };

function Backups() {
  const { data, problem, reload } = useStores();
  const [busy, setBusy] = useState(false);
  const backUp = async () => {
    setBusy(true);
    await attempt(async () => {
      const made = await call("back_up_store", { body: undefined });
      tell(made.path ? t("backups.made", { path: made.path }) : t("backups.none_made"));
    });
    setBusy(false);
    reload();
  };
  if (problem && !data) return <Failure problem={problem} retry={reload} />;
  if (!data) return <Skeleton lines={6} />;
  const files = data.stores.flatMap((one: StoreShape) => ((one.backups ?? []) as unknown as BackupFile[]).map((file) => ({ ...file, store: one.name })));
  return (
    <Card title={t("settings.backups")} id="backups" aside={<Button small look="main" disabled={busy} onClick={() => void backUp()}>{busy ? t("backups.making") : t("backups.make")}</Button>}>
      <p>{t("backups.about")}</p>
      {files.length === 0 ? (
        <p class="dim">{t("backups.none")}</p>
      ) : (
        <ul class="rows-list">
          {files.map((file) => (
            <li key={file.path}>
              <div>
                <code class="selectable">{file.path}</code>
                <div class="dim">{t(`store.${file.store}`)} · {t("memories.count", { n: file.memories })}</div>
              </div>
            </li>
          ))}
        </ul>
      )}
      <p class="dim">{t("backups.restore")}</p>
      <Command text="recollect restore FILE" />
    </Card>
  );
}

function Values() {
  const { data, problem, reload } = useLoad((signal) => call("read_settings", { signal }), []);
  if (problem && !data) return <Failure problem={problem} retry={reload} />;
  if (!data) return <Skeleton lines={8} />;
  return (
    <Card title={t("settings.values")} id="values">
      <p>{t("values.about")}</p>
      {data.notice && <p class="note">{data.notice}</p>}
      <div class="table-box" tabIndex={0} role="group" aria-label={t("settings.values")}>
        <table>
          <thead>
            <tr>
              <th scope="col">{t("values.name")}</th>
              <th scope="col">{t("values.value")}</th>
            </tr>
          </thead>
          <tbody>
            {data.settings.map((one) => (
              <tr key={one.name}>
                <th scope="row">
                  <code>{one.name}</code>
                </th>
                <td>
                  {JSON.stringify(one.value)} {JSON.stringify(one.value) !== JSON.stringify(one.default) && <Badge tone="accent">{t("values.changed")}</Badge>}
                </td>
              </tr>
            ))}
          </tbody>
        </table>
      </div>
    </Card>
  );
}

