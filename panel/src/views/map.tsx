/** Map: the modules of the code as a graph, how well memories cover them, and what a change would reach. */
import { useEffect, useState } from "preact/hooks";
import type { MapShape, ModuleShape, ReachShape } from "../api";
import { call } from "../client";
import { useLoad } from "../hooks";
import { Button, Command, Empty, Failure, Segments, Skeleton } from "../parts/basic";
import { layOut, type Laid } from "../parts/layout";
import { Rings } from "../parts/rings";
import { go, place, withQuery } from "../router";
import { number, t } from "../words";

const MOST_MODULES = 80;

type Need = { module: string; weight: number };
const needsOf = (one: ModuleShape) => one.needs as unknown as Need[];

export function ModuleMap() {
  const query = place.value.query;
  const target = query.get("target");
  const { data, problem, reload } = useLoad((signal) => call("code_map", { signal }), []);
  return (
    <div class="map">
      <div class="view-head">
        <h1>{t("nav.map")}</h1>
        {data && <span class="dim">{t("map.counts", { files: data.files, nodes: data.nodes, edges: data.edges })}</span>}
        <span class="grow" />
        <ImpactForm target={target} />
      </div>
      {problem?.code === "code-not-indexed" || data?.modules.length === 0 ? (
        <Empty icon="map" title={t("map.none")}>
          <p>{t("map.none_about")}</p>
          <Command text="recollect code index" />
        </Empty>
      ) : problem && !data ? (
        <Failure problem={problem} retry={reload} />
      ) : !data ? (
        <Skeleton lines={10} />
      ) : target ? (
        <Impact target={target} />
      ) : (
        <Modules data={data} chosen={query.get("module")} />
      )}
    </div>
  );
}

function ImpactForm({ target }: { target: string | null }) {
  const [text, setText] = useState(target ?? "");
  useEffect(() => setText(target ?? ""), [target]);
  return (
    <form
      class="impact-form"
      onSubmit={(event) => {
        event.preventDefault();
        go(withQuery({ target: text.trim(), module: null }));
      }}
    >
      <input type="search" value={text} aria-label={t("map.target")} placeholder={t("map.target")} onInput={(event) => setText(event.currentTarget.value)} />
      <Button type="submit">{t("map.impact")}</Button>
      {target && (
        <Button look="quiet" onClick={() => go("/map")}>
          {t("map.back")}
        </Button>
      )}
    </form>
  );
}

// --- modules ---------------------------------------------------------------------------------------------------------

function Modules({ data, chosen }: { data: MapShape; chosen: string | null }) {
  const [isTable, setTable] = useState(place.value.query.get("as") === "table");
  const shown = [...data.modules].sort((a, b) => b.symbols - a.symbols || a.path.localeCompare(b.path)).slice(0, MOST_MODULES);
  return (
    <>
      <div class="map-bar">
        <Segments
          label={t("map.as")}
          value={isTable ? "table" : "graph"}
          choices={[
            { value: "graph", text: t("map.graph") },
            { value: "table", text: t("map.table") },
          ]}
          onChoose={(value) => setTable(value === "table")}
        />
        {data.modules.length > shown.length && <span class="dim">{t("map.left_out", { n: data.modules.length - shown.length })}</span>}
        <span class="grow" />
        <ul class="legend" aria-label={t("map.legend")}>
          <li><span class="swatch cover0" />{t("map.cover0")}</li>
          <li><span class="swatch cover1" />{t("map.cover1")}</li>
          <li><span class="swatch cover2" />{t("map.cover2")}</li>
          <li><span class="swatch churn" />{t("map.churn")}</li>
        </ul>
      </div>
      <div class="map-body">
        {isTable ? <ModuleTable modules={shown} /> : <Graph modules={shown} chosen={chosen} />}
        {chosen && <Neighbourhood module={data.modules.find((one) => one.path === chosen)} />}
      </div>
    </>
  );
}

/** How well a module is covered: nothing, something, or a memory for every few files. */
function cover(one: ModuleShape): number {
  if (!one.memories) return 0;
  return one.memories >= one.files / 2 ? 2 : 1;
}

function Graph({ modules, chosen }: { modules: ModuleShape[]; chosen: string | null }) {
  const laid: Laid = layOut(modules.map((one) => ({ id: one.path, layer: one.layer, weight: one.symbols, needs: needsOf(one) })));
  const near = new Set<string>(chosen ? [chosen, ...laid.edges.filter((edge) => edge.from === chosen || edge.to === chosen).flatMap((edge) => [edge.from, edge.to])] : []);
  const touched = Math.max(1, ...modules.map((one) => one.changes));
  const choose = (path: string) => go(withQuery({ module: path === chosen ? null : path }), { replace: true });
  return (
    <div class="graph-box" tabIndex={0} role="group" aria-label={t("map.graph_label", { n: modules.length })}>
      <svg class={chosen ? "graph focused" : "graph"} viewBox={`0 0 ${laid.width} ${laid.height}`} width={laid.width} height={laid.height}>
        {laid.edges
          .filter((edge) => (chosen ? edge.from === chosen || edge.to === chosen : edge.isStrong))
          .map((edge) => (
            <path key={`${edge.from} ${edge.to}`} class={edge.from === chosen ? "edge out" : edge.to === chosen ? "edge in" : "edge"} d={edge.path} />
          ))}
        {modules.map((one) => {
          const at = laid.places.get(one.path);
          if (!at) return null;
          const looks = ["node", `cover${cover(one)}`, one.path === chosen ? "chosen" : "", chosen && !near.has(one.path) ? "far" : ""].join(" ");
          return (
            <g
              key={one.path}
              class={looks}
              transform={`translate(${at.x} ${at.y})`}
              role="button"
              tabIndex={0}
              aria-pressed={one.path === chosen}
              aria-label={t("map.module_label", { path: one.path, files: one.files, memories: one.memories })}
              onClick={() => choose(one.path)}
              onKeyDown={(event) => {
                if (event.key === "Enter" || event.key === " ") {
                  event.preventDefault();
                  choose(one.path);
                }
              }}
            >
              <circle r={at.r} />
              {one.changes > 0 && <circle class="churn" r={at.r + 3} stroke-width={1 + 4 * (one.changes / touched)} />}
              <text y={at.r + 15} text-anchor="middle">{shortName(one.path)}</text>
            </g>
          );
        })}
      </svg>
    </div>
  );
}

function shortName(path: string): string {
  const parts = path.replace(/\/$/, "").split("/");
  const name = parts.at(-1) || "/";
  return name.length > 18 ? `${name.slice(0, 17)}…` : name;
}

function ModuleTable({ modules }: { modules: ModuleShape[] }) {
  return (
    <div class="table-box" tabIndex={0} role="group" aria-label={t("map.table")}>
      <table>
        <thead>
          <tr>
            <th scope="col">{t("map.module")}</th>
            <th scope="col" class="figure">{t("map.files")}</th>
            <th scope="col" class="figure">{t("map.symbols")}</th>
            <th scope="col" class="figure">{t("map.memories")}</th>
            <th scope="col" class="figure">{t("map.touched")}</th>
            <th scope="col">{t("map.needs")}</th>
          </tr>
        </thead>
        <tbody>
          {modules.map((one) => (
            <tr key={one.path}>
              <th scope="row">
                <a href={withQuery({ module: one.path })}>{one.path}</a>
              </th>
              <td class="figure">{number(one.files)}</td>
              <td class="figure">{number(one.symbols)}</td>
              <td class="figure">{number(one.memories)}</td>
              <td class="figure">{number(one.changes)}</td>
              <td class="dim">{needsOf(one).slice(0, 3).map((need) => shortName(need.module)).join(", ")}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

function Neighbourhood({ module }: { module: ModuleShape | undefined }) {
  if (!module) return null;
  const lists: [string, string[]][] = [
    [t("map.needs"), needsOf(module).slice(0, 12).map((need) => need.module)],
    [t("map.needed_by"), module.needed_by.slice(0, 12)],
  ];
  return (
    <aside class="card neighbourhood" aria-label={module.path}>
      <header>
        <h2 class="path">{module.path}</h2>
        <Button look="quiet" icon="cross" label={t("close")} onClick={() => go(withQuery({ module: null }))} />
      </header>
      <p class="dim">{t("map.module_counts", { files: module.files, symbols: module.symbols, memories: module.memories })}</p>
      <p class="actions">
        <a class="button small" href={`/memories?q=${encodeURIComponent(shortName(module.path))}`}>
          {t("map.see_memories")}
        </a>
      </p>
      {lists.map(([title, paths]) => (
        <section key={title}>
          <h3>{title}</h3>
          {paths.length === 0 ? (
            <p class="dim">{t("nothing")}</p>
          ) : (
            <ul class="plain-list">
              {paths.map((path) => (
                <li key={path}>
                  <a href={withQuery({ module: path })}>{path}</a>
                </li>
              ))}
            </ul>
          )}
        </section>
      ))}
    </aside>
  );
}

// --- what a change reaches -------------------------------------------------------------------------------------------

type ReachedFile = { file: string; depth: number; strength: number; test: boolean };

function Impact({ target }: { target: string }) {
  const { data, problem, loading, reload } = useLoad((signal) => call("code_impact", { query: { target, limit: 200 }, signal }), [target]);
  if (problem) return <Failure problem={problem} retry={reload} />;
  if (!data || loading) return <Skeleton lines={8} />;
  const files = data.files as unknown as ReachedFile[];
  return (
    <div class="impact">
      <p class="dim">{t("map.reaches", { n: files.length, tests: data.tests.length, target: data.target })}</p>
      {files.length === 0 ? (
        <Empty icon="check" title={t("map.reaches_nothing")}>
          <p>{t("map.reaches_nothing_about")}</p>
        </Empty>
      ) : (
        <div class="map-body">
          <Rings target={data.target} files={files} />
          <ReachTable files={files} data={data} />
        </div>
      )}
    </div>
  );
}

function ReachTable({ files, data }: { files: ReachedFile[]; data: ReachShape }) {
  return (
    <div class="table-box" tabIndex={0} role="group" aria-label={t("map.reached")}>
      <table>
        <thead>
          <tr>
            <th scope="col">{t("map.file")}</th>
            <th scope="col" class="figure">{t("map.depth")}</th>
            <th scope="col" class="figure">{t("map.strength")}</th>
          </tr>
        </thead>
        <tbody>
          {files.map((one) => (
            <tr key={one.file}>
              <th scope="row">
                <a href={withQuery({ target: one.file })}>{one.file}</a>
              </th>
              <td class="figure">{number(one.depth)}</td>
              <td class="figure">{one.strength.toFixed(2)}</td>
            </tr>
          ))}
        </tbody>
      </table>
      {data.notes.map((note) => (
        <p key={note} class="note">
          {note}
        </p>
      ))}
    </div>
  );
}
