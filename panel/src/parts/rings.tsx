/** What a change reaches, drawn as rings: the target in the middle, each step one ring further out. */
import { go, withQuery } from "../router";
import { t } from "../words";

type Reached = { file: string; depth: number; strength: number; test: boolean };
const SIZE = 640;
const PER_RING = 28;
const NAMED = 14; // files of a ring that are named on the picture; the table names all

export function Rings({ target, files }: { target: string; files: Reached[] }) {
  const depths = [...new Set(files.map((one) => one.depth))].sort((a, b) => a - b);
  const step = SIZE / 2 / (depths.length + 0.9);
  return (
    <svg class="rings" viewBox={`0 0 ${SIZE} ${SIZE}`} role="img" aria-label={t("map.rings_label", { n: files.length, target })}>
      {depths.map((depth, at) => (
        <circle key={depth} class="ring-line" cx={SIZE / 2} cy={SIZE / 2} r={step * (at + 1)} />
      ))}
      {depths.map((depth, ring) => {
        const all = files.filter((one) => one.depth === depth);
        const own = all.slice(0, PER_RING);
        return own.map((one, at) => {
          const angle = (at / own.length) * 2 * Math.PI - Math.PI / 2 + ring * 0.35;
          const x = SIZE / 2 + Math.cos(angle) * step * (ring + 1);
          const y = SIZE / 2 + Math.sin(angle) * step * (ring + 1);
          return (
            <g key={one.file} class={one.test ? "reached test" : "reached"} transform={`translate(${x} ${y})`} onClick={() => go(withQuery({ target: one.file }))}>
              <title>{one.file}</title>
              <circle r={4 + 6 * Math.min(1, one.strength)} />
              {own.length <= NAMED && (
                <text y="-12" text-anchor="middle">
                  {one.file.split("/").at(-1)?.slice(0, 20)}
                </text>
              )}
            </g>
          );
        });
      })}
      <g class="reached target" transform={`translate(${SIZE / 2} ${SIZE / 2})`}>
        <circle r="14" />
        <text y="30" text-anchor="middle">
          {target.split("/").at(-1)?.slice(0, 28)}
        </text>
      </g>
    </svg>
  );
}
