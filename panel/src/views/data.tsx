/** Data: take it along as a file, or erase it for good. Erasing is shown first and asked for in words. */
import { useState } from "preact/hooks";
import type { EraseBody, ErasureShape } from "../api";
import { address, asProblem, call, type Problem } from "../client";
import { bump } from "../live";
import { Badge, Button, Card, Command, KindBadge } from "../parts/basic";
import { project, store } from "../state";
import { named, number, t } from "../words";

const FORMATS = ["jsonl", "archive", "markdown", "claude"] as const;

export function Data() {
  return (
    <>
      <Export />
      <Erase />
    </>
  );
}

function Export() {
  const [format, setFormat] = useState<(typeof FORMATS)[number]>("jsonl");
  const [isWhole, setWhole] = useState(false);
  const query = { format, personal: isWhole ? "true" : undefined, store: store.value === "personal" ? "personal" : undefined };
  return (
    <Card title={t("data.export")} id="export">
      <p>{t("data.export_about")}</p>
      <label class="field">
        <span>{t("data.format")}</span>
        <select value={format} onChange={(event) => setFormat(event.currentTarget.value as typeof format)}>
          {FORMATS.map((one) => (
            <option key={one} value={one}>
              {t(`format.${one}`)}
            </option>
          ))}
        </select>
      </label>
      <label class="check">
        <input type="checkbox" checked={isWhole} onChange={() => setWhole(!isWhole)} />
        <span>{t("data.with_personal")}</span>
      </label>
      <p>
        <a class="button main" href={address("/v1/export", query)} download>
          {t("data.download")}
        </a>
      </p>
      <p class="dim">{t("data.import")}</p>
      <Command text="recollect import FILE" />
    </Card>
  );
}

// --- erase -----------------------------------------------------------------------------------------------------------

type What = "subject" | "session" | "user" | "project" | "everything";
const WHATS: What[] = ["subject", "session", "user", "project", "everything"];
const NAMED: readonly What[] = ["subject", "session", "user"];
const COPIES = ["list", "rewrite", "delete"] as const;
const SHOWN = 20;

function Erase() {
  const [what, setWhat] = useState<What>("subject");
  const [name, setName] = useState("");
  const [copies, setCopies] = useState<(typeof COPIES)[number]>("list");
  const [plan, setPlan] = useState<ErasureShape | null>(null);
  const [done, setDone] = useState<ErasureShape | null>(null);
  const [problem, setProblem] = useState<Problem | null>(null);
  const [busy, setBusy] = useState(false);
  const isNamed = NAMED.includes(what);
  const body: EraseBody = { backups: copies, ...(isNamed ? { [what]: name.trim() } : { [what]: true }) };
  const send = async (more: EraseBody, keep: (answer: ErasureShape) => void) => {
    setBusy(true);
    setProblem(null);
    try {
      keep(await call("erase_data", { body: { ...body, ...more } }));
    } catch (error) {
      setProblem(asProblem(error));
    }
    setBusy(false);
  };
  const change = () => {
    setPlan(null);
    setDone(null);
    setProblem(null);
  };
  return (
    <Card title={t("data.erase")} id="erase">
      <p>{t("data.erase_about")}</p>
      <form
        class="fields"
        onSubmit={(event) => {
          event.preventDefault();
          void send({ dry_run: true }, setPlan);
        }}
      >
        <label class="field">
          <span>{t("data.what")}</span>
          <select value={what} onChange={(event) => { setWhat(event.currentTarget.value as What); change(); }}>
            {WHATS.map((one) => (
              <option key={one} value={one}>
                {t(`erase.${one}`)}
              </option>
            ))}
          </select>
        </label>
        {isNamed && (
          <label class="field">
            <span>{t(`erase.${what}.name` as "erase.subject.name")}</span>
            <input type="text" value={name} onInput={(event) => { setName(event.currentTarget.value); change(); }} />
          </label>
        )}
        <label class="field">
          <span>{t("data.copies")}</span>
          <select value={copies} onChange={(event) => { setCopies(event.currentTarget.value as typeof copies); change(); }}>
            {COPIES.map((one) => (
              <option key={one} value={one}>
                {t(`copies.${one}`)}
              </option>
            ))}
          </select>
        </label>
        <p class="whole">
          <Button type="submit" disabled={busy || (isNamed && !name.trim())}>
            {t(busy ? "data.looking" : "data.look")}
          </Button>
        </p>
      </form>
      {problem && (
        <p class="note bad" role="alert">
          {problem.detail} {problem.hint}
        </p>
      )}
      {plan && !done && <Plan plan={plan} word={isNamed ? name.trim() : what === "project" ? project.value || "project" : "everything"} busy={busy} onErase={() => void send({ dry_run: false, digest: plan.digest }, (answer) => { setDone(answer); bump(); })} />}
      {done && <Report report={done} />}
    </Card>
  );
}

/** What would go, and the words that let it go. */
function Plan({ plan, word, busy, onErase }: { plan: ErasureShape; word: string; busy: boolean; onErase: () => void }) {
  const [typed, setTyped] = useState("");
  return (
    <section class="erase-plan" aria-live="polite">
      <h3>{t("erase.would", { n: plan.memories.length })}</h3>
      <ul class="plain-list spaced">
        {plan.shown.slice(0, SHOWN).map((one) => (
          <li key={one.id}>
            <span>
              <KindBadge kind={one.kind} /> {one.content}
            </span>
          </li>
        ))}
      </ul>
      {plan.memories.length > SHOWN && <p class="dim">{t("and_more", { n: plan.memories.length - SHOWN })}</p>}
      <Places erased={plan.erased as Gone[]} remaining={plan.remaining as Left[]} notes={plan.notes} />
      <label class="field">
        <span>{t("erase.type", { word })}</span>
        <input type="text" value={typed} autocomplete="off" onInput={(event) => setTyped(event.currentTarget.value)} />
      </label>
      <p>
        <Button look="danger" icon="trash" disabled={busy || typed.trim() !== word} onClick={onErase}>
          {t(busy ? "erase.running" : "erase.sure")}
        </Button>
      </p>
    </section>
  );
}

type Gone = { sort: string; where: string; action: string; count: number };
type Left = { sort: string; where: string; why: string; way: string };

function Places({ erased, remaining, notes }: { erased: Gone[]; remaining: Left[]; notes: string[] }) {
  return (
    <>
      <ul class="latest">
        {erased.map((one, at) => (
          <li key={at}>
            <span>
              {named("erased", one.sort)} <span class="dim path">{one.where}</span>
            </span>
            <span class="dim">{number(one.count)}</span>
          </li>
        ))}
      </ul>
      {remaining.map((one, at) => (
        <p key={at} class="note">
          <span class="path">{one.where}</span>: {one.why}. {one.way}
        </p>
      ))}
      {notes.map((note) => (
        <p key={note} class="dim">
          {note}
        </p>
      ))}
    </>
  );
}

function Report({ report }: { report: ErasureShape }) {
  return (
    <section role="status">
      <p>
        <Badge tone={report.complete ? "good" : "warn"}>{t(report.complete ? "erase.complete" : "erase.incomplete")}</Badge>
      </p>
      <Places erased={report.erased as Gone[]} remaining={report.remaining as Left[]} notes={report.notes} />
    </section>
  );
}
