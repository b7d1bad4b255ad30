/** Ask: a question, and what the memory answers, each part with the memories it stands on. */
import { useEffect, useRef, useState } from "preact/hooks";
import type { AnswerShape, FoundMemory } from "../api";
import { call } from "../client";
import { useLoad } from "../hooks";
import { useKeys } from "../keys";
import { Badge, Button, Dots, Empty, Failure, KindBadge, Segments, Skeleton } from "../parts/basic";
import { KINDS } from "../parts/edit";
import { Marked, Provenance } from "../parts/memory";
import { go, place, withQuery } from "../router";
import { named, percent, t, type Key } from "../words";

const SHOWN_CHIPS = 5;
const EXAMPLES: Key[] = ["ask.example_1", "ask.example_2", "ask.example_3"];

export function Ask() {
  const question = place.value.query.get("q") ?? "";
  const [text, setText] = useState(question);
  const field = useRef<HTMLInputElement>(null);
  useEffect(() => setText(question), [question]);
  useEffect(() => field.current?.focus(), []);
  useKeys([{ keys: "i", about: "key.ask", run: () => field.current?.focus() }], []);
  return (
    <div class="reading">
      <h1>{t("nav.ask")}</h1>
      <form
        class="ask-form"
        onSubmit={(event) => {
          event.preventDefault();
          go(withQuery({ q: text.trim() }));
        }}
      >
        <input ref={field} type="search" value={text} placeholder={t("ask.placeholder")} aria-label={t("ask.placeholder")} onInput={(event) => setText(event.currentTarget.value)} />
        <Button look="main" type="submit" icon="ask">
          {t("nav.ask")}
        </Button>
      </form>
      {question ? (
        <Answer question={question} />
      ) : (
        <Empty icon="ask" title={t("ask.empty")}>
          <p>{t("ask.empty_about")}</p>
          <p class="terms">
            {EXAMPLES.map((key) => (
              <a key={key} class="term" href={withQuery({ q: t(key) })}>
                {t(key)}
              </a>
            ))}
          </p>
        </Empty>
      )}
    </div>
  );
}

const ASKED = 12;
const KINDS_ASKED = [...KINDS, "prefetch_pattern", "task_calibration", "e2e_observation", "work_unit_outcome", "context_cost", "episode"]; // not passages

function Answer({ question }: { question: string }) {
  const isWide = place.value.query.has("all");
  const [isWritten, setWritten] = useState(false);
  useEffect(() => setWritten(false), [question]);
  const { data, problem, loading, reload } = useLoad(
    (signal) => call("ask_memory", { body: { question, limit: ASKED, write: isWritten, kinds: isWide ? [] : KINDS_ASKED }, signal }),
    [question, isWritten, isWide],
    { live: false },
  );
  const models = useLoad((signal) => call("read_models", { signal }), [], { live: false });
  if (problem && !data) return <Failure problem={problem} retry={reload} />;
  if (!data || (loading && !isWritten)) return <Skeleton lines={8} />;
  if (data.hits.length === 0) {
    return (
      <Empty icon="search" title={t("ask.nothing")}>
        <p>{t("ask.nothing_about")}</p>
        {!isWide && (
          <a class="button" href={withQuery({ all: "1" })}>
            {t("ask.wider")}
          </a>
        )}
      </Empty>
    );
  }
  return (
    <>
      <Segments
        label={t("ask.where")}
        value={isWide ? "all" : "memories"}
        choices={[
          { value: "memories", text: t("nav.memories") },
          { value: "all", text: t("ask.all") },
        ]}
        onChoose={(value) => go(withQuery({ all: value === "all" ? "1" : null }), { replace: true })}
      />
      {data.sentences.length > 0 ? (
        <Written data={data} />
      ) : models.data && models.data.model && models.data.model !== "none" ? (
        <p>
          <Button icon="pen" disabled={loading} onClick={() => setWritten(true)}>
            {t(loading ? "ask.writing" : "ask.write")}
          </Button>
        </p>
      ) : (
        models.data && <p class="dim">{t("ask.no_model")}</p>
      )}
      {problem && <p class="note bad">{problem.detail}</p>}
      <Chips hits={data.hits} />
      {data.notes.map((note) => (
        <p key={note} class="note">
          {note}
        </p>
      ))}
      <ol class="hits">
        {data.hits.map((hit, at) => (
          <Hit key={hit.id} hit={hit} at={at + 1} />
        ))}
      </ol>
    </>
  );
}

/** A written answer: every sentence carries the memories it stands on. */
function Written({ data }: { data: AnswerShape }) {
  return (
    <section class="card answer" aria-label={t("ask.written")}>
      {data.sentences.map((one, at) => (
        <div key={at}>
          <p>{one.text}</p>
          <Chips hits={data.hits.filter((hit) => one.memories.includes(hit.id))} />
        </div>
      ))}
      {data.model && <p class="dim">{t("ask.written_by", { model: data.model })}</p>}
    </section>
  );
}

/** What an answer stands on, as chips; more than five are folded. A dead end is red. */
export function Chips({ hits }: { hits: FoundMemory[] }) {
  const [isOpen, setOpen] = useState(false);
  const shown = isOpen ? hits : hits.slice(0, SHOWN_CHIPS);
  return (
    <p class="chips" aria-label={t("ask.sources")}>
      {shown.map((hit) => (
        <a key={hit.id} class={hit.memory.kind === "dead_end" ? "chip bad" : "chip"} href={`/memories/${encodeURIComponent(hit.id)}`}>
          {chipText(hit)}
        </a>
      ))}
      {hits.length > SHOWN_CHIPS && (
        <Button small look="quiet" aria-expanded={isOpen} onClick={() => setOpen(!isOpen)}>
          {isOpen ? t("ask.fewer") : t("ask.more", { n: hits.length - SHOWN_CHIPS })}
        </Button>
      )}
    </p>
  );
}

/** The first words of a memory, without line breaks. */
function chipText(hit: FoundMemory): string {
  const words = hit.memory.content.replaceAll(/\s+/g, " ").trim();
  return words.length > 48 ? `${words.slice(0, 47)}…` : words;
}

function Hit({ hit, at }: { hit: FoundMemory; at: number }) {
  const factors = Object.entries(hit.factors).filter(([, value]) => value !== 0);
  return (
    <li class={hit.memory.kind === "dead_end" ? "hit card dead" : "hit card"}>
      <div class="row-meta">
        <span class="hit-number">{at}</span>
        <KindBadge kind={hit.memory.kind} />
        <Dots value={hit.confidence} />
        {hit.doubts.map((doubt) => (
          <Badge key={doubt} tone="warn">
            {doubt}
          </Badge>
        ))}
      </div>
      <p class="memory-text">
        <Marked text={hit.memory.content} places={hit.highlights} />
      </p>
      <Provenance memory={hit.memory} />
      <details>
        <summary>{t("ask.why", { value: percent(hit.score) })}</summary>
        <dl class="factors">
          {factors.map(([name, value]) => (
            <div key={name}>
              <dt>{named("factor", name)}</dt>
              <dd>{value.toFixed(2)}</dd>
            </div>
          ))}
        </dl>
        <p class="dim">{hit.reasons.join(" · ")}</p>
      </details>
      <a class="hit-open" href={`/memories/${encodeURIComponent(hit.id)}`}>
        {t("ask.open")}
      </a>
    </li>
  );
}
