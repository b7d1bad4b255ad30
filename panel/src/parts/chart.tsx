/** Charts, drawn by hand as SVG: a few shapes need no library, and the strict CSP stays whole. */
import { day, named, number, percent, t } from "../words";

export type Bar = { day: string; name: string; count: number };

const WIDTH = 720;
const HEIGHT = 150;
const GAP = 0.22; // of a day's width between two bars
const COLOURS = 8;

/** The most frequent names get a colour of their own; the rest share the last. */
export function palette(bars: { name: string; count: number }[]): Map<string, number> {
  const totals = new Map<string, number>();
  for (const bar of bars) totals.set(bar.name, (totals.get(bar.name) ?? 0) + bar.count);
  const ranked = [...totals].sort((a, b) => b[1] - a[1] || a[0].localeCompare(b[0]));
  return new Map(ranked.map(([name], at) => [name, Math.min(at + 1, COLOURS)]));
}

function days(since: string, count: number): string[] {
  const first = new Date(`${since}T00:00:00Z`).getTime();
  return Array.from({ length: count }, (_, at) => new Date(first + at * 86_400_000).toISOString().slice(0, 10));
}

/** What happened each day, stacked by name. The same figures are in a table for screen readers. */
export function StackedBars({ since, count, bars, list, label }: { since: string; count: number; bars: Bar[]; list: string; label: string }) {
  const columns = days(since, count);
  const colours = palette(bars);
  const totals = columns.map((one) => bars.filter((bar) => bar.day === one).reduce((sum, bar) => sum + bar.count, 0));
  const top = Math.max(1, ...totals);
  const step = WIDTH / columns.length;
  return (
    <figure class="chart">
      <svg viewBox={`0 0 ${WIDTH} ${HEIGHT}`} role="img" aria-label={label} preserveAspectRatio="none" class="bars">
        {[0, 0.5, 1].map((share) => (
          <line key={share} class="grid" x1="0" x2={WIDTH} y1={HEIGHT * (1 - share) + 0.5} y2={HEIGHT * (1 - share) + 0.5} />
        ))}
        {columns.map((one, at) => {
          let y = HEIGHT;
          const own = [...colours.keys()].flatMap((name) => bars.filter((bar) => bar.day === one && bar.name === name));
          return (
            <g key={one}>
              <title>{`${day(one)}: ${own.map((bar) => `${named(list, bar.name)} ${number(bar.count)}`).join(", ") || number(0)}`}</title>
              <rect class="hit-area" x={at * step} y="0" width={step} height={HEIGHT} />
              {own.map((bar) => {
                const height = (bar.count / top) * (HEIGHT - 8);
                y -= height;
                return (
                  <rect key={bar.name} class={`c${colours.get(bar.name)}`} x={at * step + (step * GAP) / 2} y={y} width={step * (1 - GAP)} height={Math.max(height, 0.75)} />
                );
              })}
            </g>
          );
        })}
      </svg>
      <div class="axis" aria-hidden="true">
        <span>{day(columns[0] ?? since)}</span>
        <span>{t("chart.most", { n: top })}</span>
        <span>{day(columns.at(-1) ?? since)}</span>
      </div>
      <ul class="legend">
        {[...colours].slice(0, COLOURS).map(([name, colour], at) => (
          <li key={name}>
            <span class={`swatch c${colour}`} />
            {at === COLOURS - 1 && colours.size > COLOURS ? t("chart.others") : named(list, name)}
          </li>
        ))}
      </ul>
    </figure>
  );
}

/** Shares of a whole as horizontal bars, each a link to what it counts. */
export function Shares({ values, list, href }: { values: { value: string; count: number }[]; list: string; href: (value: string) => string }) {
  const top = Math.max(1, ...values.map((one) => one.count));
  return (
    <ul class="shares">
      {values.map((one) => (
        <li key={one.value}>
          <a href={href(one.value)}>
            <span class="share-name">{named(list, one.value)}</span>
            <span class="share-count">{number(one.count)}</span>
            <svg viewBox="0 0 100 6" preserveAspectRatio="none" aria-hidden="true">
              <rect class="track" width="100" height="6" />
              <rect class="c1" width={Math.max(1, (one.count / top) * 100)} height="6" />
            </svg>
          </a>
        </li>
      ))}
    </ul>
  );
}

/** A score from 0 to 100 as a ring. */
export function Ring({ score, label }: { score: number; label: string }) {
  const length = 2 * Math.PI * 42;
  const tone = score >= 80 ? "good" : score >= 50 ? "warn" : "bad";
  return (
    <svg class={`ring ${tone}`} viewBox="0 0 100 100" role="img" aria-label={label}>
      <circle class="ring-track" cx="50" cy="50" r="42" />
      <circle class="ring-value" cx="50" cy="50" r="42" stroke-dasharray={`${(score / 100) * length} ${length}`} transform="rotate(-90 50 50)" />
      <text x="50" y="50" text-anchor="middle" dominant-baseline="central">
        {score}
      </text>
    </svg>
  );
}

/** How confidence fades from now on if nobody uses the memory. */
export function Curve({ points, label }: { points: { day: number; confidence: number }[]; label: string }) {
  const last = points.at(-1)?.day || 1;
  const at = (point: { day: number; confidence: number }) => `${((point.day / last) * 300).toFixed(1)},${(60 - point.confidence * 56).toFixed(1)}`;
  const line = points.map(at).join(" ");
  return (
    <figure class="curve">
      <svg viewBox="0 0 300 62" preserveAspectRatio="none" role="img" aria-label={label}>
        <polygon class="under" points={`0,60 ${line} 300,60`} />
        <polyline class="line" points={line} />
        <line class="grid" x1="0" x2="300" y1="60.500" y2="60.500" />
      </svg>
      <div class="axis" aria-hidden="true">
        <span>{t("curve.today", { value: percent(points[0]?.confidence ?? 0) })}</span>
        <span>{t("curve.later", { n: last, value: percent(points.at(-1)?.confidence ?? 0) })}</span>
      </div>
    </figure>
  );
}

/** How far something has come towards its limit. */
export function Meter({ share, tone, label }: { share: number; tone: "good" | "warn" | "bad"; label: string }) {
  return (
    <svg class={`meter ${tone}`} viewBox="0 0 100 6" preserveAspectRatio="none" role="img" aria-label={label}>
      <rect class="track" width="100" height="6" />
      <rect class="fill" width={Math.max(0.5, Math.min(100, share * 100))} height="6" />
    </svg>
  );
}
