/** Where the modules of a map stand: one band per layer, the ones that need most above; the same map always looks the same. */

export type Placed = { x: number; y: number; r: number };
export type Edge = { from: string; to: string; path: string; isStrong: boolean };
export type Laid = { width: number; height: number; places: Map<string, Placed>; edges: Edge[] };
type Node = { id: string; layer: number; weight: number; needs: { module: string; weight: number }[] };

const COLUMN = 132;
const BAND = 104;
const PER_ROW = 8;
const STRONG = 2; // edges of each module that are drawn unasked: the heaviest
const SWEEPS = 4;

export function layOut(nodes: Node[]): Laid {
  const rows = split(nodes);
  const widest = Math.max(1, ...rows.map((row) => row.length));
  const width = widest * COLUMN;
  const top = Math.max(1, ...nodes.map((node) => node.weight));
  const places = new Map<string, Placed>();
  const put = (row: Node[], y: number) =>
    row.forEach((node, at) => {
      const x = (width / row.length) * (at + 0.5);
      places.set(node.id, { x, y, r: 8 + 20 * Math.sqrt(node.weight / top) });
    });
  rows.forEach((row, at) => put(row, 48 + at * BAND));
  for (let sweep = 0; sweep < SWEEPS; sweep += 1) {
    rows.forEach((row, at) => {
      row.sort((a, b) => middle(a, nodes, places) - middle(b, nodes, places) || a.id.localeCompare(b.id));
      put(row, 48 + at * BAND);
    });
  }
  return { width, height: rows.length * BAND + 24, places, edges: draw(nodes, places) };
}

/** The bands, the highest layer first; a full band goes on in the next row. */
function split(nodes: Node[]): Node[][] {
  const layers = new Map<number, Node[]>();
  for (const node of nodes) layers.set(node.layer, [...(layers.get(node.layer) ?? []), node]);
  return [...layers]
    .sort((a, b) => b[0] - a[0])
    .flatMap(([, row]) => {
      row.sort((a, b) => a.id.localeCompare(b.id));
      const count = Math.ceil(row.length / PER_ROW);
      const size = Math.ceil(row.length / count);
      return Array.from({ length: count }, (_, at) => row.slice(at * size, (at + 1) * size));
    });
}

/** The mean place of a module's neighbours: standing near it makes edges short. */
function middle(node: Node, nodes: Node[], places: Map<string, Placed>): number {
  const near = [...node.needs.map((need) => need.module), ...nodes.filter((one) => one.needs.some((need) => need.module === node.id)).map((one) => one.id)];
  const known = near.map((id) => places.get(id)?.x).filter((x) => x !== undefined);
  return known.length ? known.reduce((sum, x) => sum + x, 0) / known.length : (places.get(node.id)?.x ?? 0);
}

function draw(nodes: Node[], places: Map<string, Placed>): Edge[] {
  return nodes.flatMap((node) => {
    const from = places.get(node.id);
    const needs = node.needs.filter((need) => places.has(need.module) && need.module !== node.id).sort((a, b) => b.weight - a.weight);
    return needs.flatMap((need, at) => {
      const to = places.get(need.module);
      if (!from || !to) return [];
      const bend = from.y === to.y ? BAND * 0.6 : (to.y - from.y) / 2;
      const path = `M${from.x} ${from.y} C${from.x} ${from.y + bend} ${to.x} ${to.y - (from.y === to.y ? -bend : bend)} ${to.x} ${to.y}`;
      return [{ from: node.id, to: need.module, path, isStrong: at < STRONG }];
    });
  });
}
