/** Memories: search as you type, facets, a list of any length, and the card of the one that is chosen. */
import { useEffect, useMemo, useRef, useState } from "preact/hooks";
import { actOnMany, attempt, type BatchAct } from "../acts";
import type { FacetsShape, FoundMemory, WholeMemory } from "../api";
import { asProblem, call, isAborted, type Problem } from "../client";
import { useLoad, useRested } from "../hooks";
import { useKeys } from "../keys";
import { Button, Empty, Failure, Skeleton } from "../parts/basic";
import { Dialog } from "../parts/dialog";
import { ForgetDialog, MemoryCard, MemoryLine } from "../parts/memory";
import { VirtualList } from "../parts/virtual";
import { go, place, withQuery } from "../router";
import { moved, store } from "../state";
import { named, number, t, type Key } from "../words";
import { teach } from "./teach";

const PAGE = 50;
const ROW = 82; // pixels; the style sheet holds the same figure
const REST_MS = 30; // a held key is one search; every other keystroke is searched at once
const SEARCHED = 50;
const MOST_SEARCHED = 200;
const MOST_PICKED = 500; // what one request may act on
const ORDERS = ["newest", "oldest", "confidence", "accessed"] as const;
const FACETS = ["status", "kind", "source", "needs_review", "pinned", "confidence", "module", "file", "tag", "scope", "user"] as const;
type Facet = (typeof FACETS)[number];
const ONE_VALUE: readonly Facet[] = ["needs_review", "pinned", "confidence", "user"];

type Query = Record<string, string | string[]>;

/** What the address asks for, as the API takes it. */
function asked(query: URLSearchParams): Query {
  const found: Query = {};
  for (const name of [...FACETS, "entity", "session", "document", "since", "until"]) {
    const values = query.getAll(name);
    if (values.length === 0) continue;
    if (name === "confidence") found.min_confidence = values[0] ?? "";
    else found[name] = (ONE_VALUE as readonly string[]).includes(name) ? (values[0] ?? "") : values;
  }
  return found;
}

export function Memories({ id }: { id: string | null }) {
  const query = place.value.query;
  const text = useRested(query.get("q") ?? "", REST_MS);
  const filter = useMemo(() => asked(query), [query.toString()]);
  const [isFiltering, setFiltering] = useState(false);
  const facets = useLoad(async (signal) => {
    await rowsFirst();
    return call("count_facets", { query: { ...filter, limit: 12 }, signal });
  }, [filter]);
  const close = () => go(withQuery({}, "/memories"));
  return (
    <div class={id ? "browser with-card" : "browser"}>
      <h1 class="only-read">{t("nav.memories")}</h1>
      <aside class="facets" aria-label={t("filter.title")}>
        <Facets data={facets.data} />
      </aside>
      <Rows text={text} filter={filter} chosen={id} total={facets.data?.total ?? null} onFilter={() => setFiltering(true)} />
      {id && (
        <section class="pane" aria-label={t("memory.one")}>
          <div class="pane-head">
            <Button look="quiet" icon="cross" label={t("close")} onClick={close} />
          </div>
          <MemoryCard id={id} onGone={close} />
        </section>
      )}
      {isFiltering && (
        <Dialog title={t("filter.title")} onClose={() => setFiltering(false)} side>
          <Facets data={facets.data} />
        </Dialog>
      )}
    </div>
  );
}

// --- facets ----------------------------------------------------------------------------------------------------------

function Facets({ data }: { data: FacetsShape | null }) {
  const query = place.value.query;
  const isFiltered = FACETS.some((name) => query.has(name)) || query.has("entity") || query.has("session") || query.has("document");
  if (!data) return <Skeleton lines={12} />;
  return (
    <>
      {isFiltered && (
        <Button small icon="cross" onClick={() => go("/memories")}>
          {t("filter.clear")}
        </Button>
      )}
      {(["session", "entity", "document"] as const).map((name) =>
        query.getAll(name).map((value) => (
          <p key={name + value} class="filtered">
            {t(`filter.${name}`)}: <code>{value}</code>
          </p>
        )),
      )}
      {FACETS.map((name) => (
        <FacetGroup key={name} name={name} values={(data.facets[name] ?? []).filter((one) => one.value !== "false" || name === "pinned")} />
      ))}
    </>
  );
}

function FacetGroup({ name, values }: { name: Facet; values: { value: string; count: number }[] }) {
  const chosen = place.value.query.getAll(name);
  const shown = values.filter((one) => one.value !== "false");
  for (const value of chosen) if (!shown.some((one) => one.value === value)) shown.unshift({ value, count: 0 });
  if (shown.length === 0) return null;
  const ordered = name === "confidence" ? [...shown].sort((a, b) => b.value.localeCompare(a.value)) : shown;
  const choose = (value: string) => {
    const isOn = chosen.includes(value);
    const next = ONE_VALUE.includes(name) ? (isOn ? [] : [value]) : isOn ? chosen.filter((one) => one !== value) : [...chosen, value];
    go(withQuery({ [name]: next }), { replace: true });
  };
  return (
    <fieldset class="facet">
      <legend>{t(`filter.${name}` as Key)}</legend>
      {ordered.slice(0, 12).map((one) => (
        <label key={one.value}>
          <input type="checkbox" checked={chosen.includes(one.value)} onChange={() => choose(one.value)} />
          <span class="facet-name" title={one.value}>
            {facetText(name, one.value)}
          </span>
          <span class="facet-count">{number(one.count)}</span>
        </label>
      ))}
    </fieldset>
  );
}

function facetText(name: Facet, value: string): string {
  if (name === "needs_review") return t("memory.needs_review");
  if (name === "pinned") return t("memory.pinned");
  if (name === "confidence") return t("filter.at_least", { value });
  if (name === "kind" || name === "source" || name === "status" || name === "scope") return named(name, value);
  return value;
}

let askedRows: Promise<unknown> = Promise.resolve();

/** Wait for the rows that are being asked for: they are looked at first, and counting would hold them up. */
async function rowsFirst(): Promise<void> {
  await new Promise((resolve) => window.setTimeout(resolve)); // the list asks in the same turn
  await askedRows;
}

/** Note a request for rows; how it ends is told where it was made. */
function leading<T>(request: Promise<T>): Promise<T> {
  askedRows = request.then(() => undefined, () => undefined);
  return request;
}

// --- the list --------------------------------------------------------------------------------------------------------

type Found = { hits: FoundMemory[] | null; pages: Map<number, WholeMemory[]>; total: number; problem: Problem | null; loading: boolean; ms: number };
const NOTHING: Found = { hits: null, pages: new Map(), total: 0, problem: null, loading: true, ms: 0 };

/** The memories of a filter: pages as they come into sight, or the hits of a search. */
function useRows(text: string, filter: Query, searched: number): Found & { want: (first: number, last: number) => void; reload: () => void } {
  const order = place.value.query.get("order") ?? "newest";
  const key = JSON.stringify([text, filter, order, store.value, searched]);
  const [found, setFound] = useState<Found>(NOTHING);
  const [again, setAgain] = useState(0);
  const control = useRef(new AbortController());
  const asking = useRef(new Set<number>());
  const sight = useRef<[number, number]>([0, 1]);

  const load = async (page: number, isFirst: boolean) => {
    if (asking.current.has(page)) return;
    asking.current.add(page);
    const signal = control.current.signal;
    try {
      const query = { ...filter, order: order as "newest", limit: PAGE, skip: page * PAGE, total: isFirst };
      const answer = await leading(call("list_memories", { query, signal }));
      setFound((before) => ({
        ...before,
        hits: null,
        pages: new Map(isFirst ? [[page, answer.memories]] : [...before.pages, [page, answer.memories]]),
        total: answer.total ?? before.total,
        problem: null,
        loading: false,
      }));
    } catch (error) {
      if (!isAborted(error)) setFound((before) => ({ ...before, problem: asProblem(error), loading: false }));
    }
  };
  useEffect(() => {
    control.current.abort();
    control.current = new AbortController();
    asking.current = new Set();
    const began = performance.now();
    if (text) {
      leading(call("search_memories", { query: { ...filter, q: text, limit: searched }, signal: control.current.signal })).then(
        (answer) => setFound({ hits: answer.hits, pages: new Map(), total: answer.hits.length, problem: null, loading: false, ms: performance.now() - began }),
        (error: unknown) => {
          if (!isAborted(error)) setFound((before) => ({ ...before, problem: asProblem(error), loading: false }));
        },
      );
    } else {
      void load(Math.floor(sight.current[0] / PAGE), true);
    }
  }, [key, moved.value, again]);

  const want = (first: number, last: number) => {
    sight.current = [first, last];
    if (text || found.hits) return;
    for (let page = Math.floor(first / PAGE); page <= Math.floor(Math.max(first, last - 1) / PAGE); page += 1) {
      if (!found.pages.has(page) && page * PAGE < found.total) void load(page, false);
    }
  };
  return { ...found, want, reload: () => setAgain((count) => count + 1) };
}

function Rows({ text, filter, chosen, total, onFilter }: { text: string; filter: Query; chosen: string | null; total: number | null; onFilter: () => void }) {
  const [searched, setSearched] = useState(SEARCHED);
  const rows = useRows(text, filter, searched);
  const [picked, setPicked] = useState<Set<string>>(new Set());
  const [focused, setFocused] = useState(-1);
  const count = rows.hits ? rows.hits.length : rows.total;
  const at = (place: number): WholeMemory | undefined =>
    rows.hits ? rows.hits[place]?.memory : rows.pages.get(Math.floor(place / PAGE))?.[place % PAGE];
  const open = (memory: WholeMemory) => go(withQuery({}, `/memories/${encodeURIComponent(memory.id)}`), { replace: chosen !== null });
  const step = (by: number) => {
    const next = Math.max(0, Math.min(count - 1, focused + by));
    setFocused(next);
    const memory = at(next);
    if (memory && chosen) open(memory);
  };
  const lastPicked = useRef(-1);
  /** Pick one, or with Shift all from the last one picked to this one. */
  const pick = (place: number, isRange = false) => {
    const next = new Set(picked);
    const memory = at(place);
    const from = isRange && lastPicked.current >= 0 ? lastPicked.current : place;
    lastPicked.current = place;
    if (!memory) return;
    if (from === place && next.delete(memory.id)) return setPicked(next);
    for (let one = Math.min(from, place); one <= Math.max(from, place); one += 1) {
      const found = at(one);
      if (found && next.size < MOST_PICKED) next.add(found.id);
    }
    setPicked(next);
  };
  const pickAll = async () => {
    if (rows.hits) return setPicked(new Set(rows.hits.map((hit) => hit.id)));
    await attempt(async () => {
      const order = (place.value.query.get("order") ?? "newest") as "newest";
      const { memories } = await call("list_memories", { query: { ...filter, order, limit: MOST_PICKED } });
      setPicked(new Set(memories.map((one) => one.id)));
    }, { isReading: true });
  };
  useEffect(() => {
    setPicked(new Set());
    setSearched(SEARCHED);
  }, [text, JSON.stringify(filter)]);
  useKeys(
    [
      { keys: "j", about: "key.next", run: () => step(1) },
      { keys: "k", about: "key.previous", run: () => step(-1) },
      { keys: "Enter", about: "key.open", run: () => focused >= 0 && at(focused) && open(at(focused) as WholeMemory) },
      { keys: "s", about: "key.pick", run: () => focused >= 0 && pick(focused) },
      { keys: "Escape", about: "key.close", run: () => (picked.size ? setPicked(new Set()) : go(withQuery({}, "/memories"))) },
    ],
    [focused, rows.pages, rows.hits, picked, chosen, place.value],
  );
  return (
    <section class="rows" aria-label={t("memories.list")}>
      <div class="rows-head">
        <p class="count" role="status">
          {rows.loading ? t("loading") : rows.hits ? t("memories.found", { n: rows.hits.length }) : t("memories.count", { n: total ?? rows.total })}
        </p>
        {rows.hits?.length === SEARCHED && (
          <Button small look="quiet" onClick={() => setSearched(MOST_SEARCHED)}>
            {t("memories.more")}
          </Button>
        )}
        <span class="grow" />
        <span class="narrow-only">
          <Button small icon="filter" onClick={onFilter}>
            {t("filter.title")}
          </Button>
        </span>
        {!text && (
          <label class="order">
            <span class="only-read">{t("order.title")}</span>
            <select value={place.value.query.get("order") ?? "newest"} onChange={(event) => go(withQuery({ order: event.currentTarget.value }), { replace: true })}>
              {ORDERS.map((one) => (
                <option key={one} value={one}>
                  {t(`order.${one}`)}
                </option>
              ))}
            </select>
          </label>
        )}
      </div>
      {picked.size > 0 && <Bulk ids={[...picked]} isMore={picked.size < Math.min(count, MOST_PICKED)} onAll={() => void pickAll()} onDone={() => setPicked(new Set())} />}
      {rows.problem && count === 0 ? (
        <Failure problem={rows.problem} retry={rows.reload} />
      ) : rows.loading ? (
        <Skeleton lines={10} />
      ) : count === 0 ? (
        <NoRows text={text} isFiltered={Object.keys(filter).length > 0} />
      ) : (
        <VirtualList
          count={count}
          height={ROW}
          label={t("memories.list")}
          focused={focused}
          onRange={rows.want}
          render={(place) => {
            const memory = at(place);
            if (!memory) return <Skeleton lines={2} />;
            const looks = ["row", memory.id === chosen ? "chosen" : "", place === focused ? "focused" : ""].join(" ");
            return (
              <div class={looks}>
                <input type="checkbox" aria-label={t("memories.pick", { text: memory.content.slice(0, 60) })} checked={picked.has(memory.id)} onClick={(event) => pick(place, event.shiftKey)} />
                <a
                  class="row-link"
                  href={withQuery({}, `/memories/${encodeURIComponent(memory.id)}`)}
                  aria-current={memory.id === chosen ? "true" : undefined}
                  onClick={() => setFocused(place)}
                >
                  <MemoryLine memory={memory} places={rows.hits?.[place]?.highlights} />
                </a>
              </div>
            );
          }}
        />
      )}
    </section>
  );
}

function NoRows({ text, isFiltered }: { text: string; isFiltered: boolean }) {
  if (text) {
    return (
      <Empty icon="search" title={t("memories.no_hits", { text })}>
        <p>{t("memories.no_hits_about")}</p>
      </Empty>
    );
  }
  return (
    <Empty title={t(isFiltered ? "memories.none_filtered" : "memories.none")}>
      <p>{t(isFiltered ? "memories.none_filtered_about" : "memories.none_about")}</p>
      {isFiltered ? (
        <Button onClick={() => go("/memories")}>{t("filter.clear")}</Button>
      ) : (
        <Button look="main" icon="plus" onClick={teach}>
          {t("teach.title")}
        </Button>
      )}
    </Empty>
  );
}

const BULK: BatchAct[] = ["confirm", "dispute", "pin", "reject"];

function Bulk({ ids, isMore, onAll, onDone }: { ids: string[]; isMore: boolean; onAll: () => void; onDone: () => void }) {
  const [isForgetting, setForgetting] = useState(false);
  const run = async (name: BatchAct) => {
    if (await actOnMany(name, ids)) onDone();
  };
  return (
    <div class="bulk" role="toolbar" aria-label={t("bulk.title")}>
      <strong>{t("bulk.picked", { n: ids.length })}</strong>
      {isMore && (
        <Button small look="quiet" onClick={onAll}>
          {t("bulk.all", { n: MOST_PICKED })}
        </Button>
      )}
      {BULK.map((name) => (
        <Button key={name} small onClick={() => void run(name)}>
          {t(`do.${name}` as Key)}
        </Button>
      ))}
      <Button small look="danger" onClick={() => setForgetting(true)}>
        {t("do.forget")}
      </Button>
      <Button small look="quiet" onClick={onDone}>
        {t("bulk.clear")}
      </Button>
      {isForgetting && <ForgetDialog text={t("bulk.picked", { n: ids.length })} onClose={() => setForgetting(false)} onForget={() => run("forget")} />}
    </div>
  );
}
