/** A list of any length: only the rows in sight exist. Rows have one height, so a jump anywhere is exact. */
import type { ComponentChildren } from "preact";
import { useEffect, useLayoutEffect, useRef, useState } from "preact/hooks";

const BEYOND = 6; // rows above and below the ones in sight
const MOST_PIXELS = 15_000_000; // browsers cannot scroll further than some 17 million

type Props = {
  count: number;
  height: number;
  label: string;
  focused?: number;
  render: (at: number) => ComponentChildren;
  onRange?: (first: number, last: number) => void;
};

export function VirtualList({ count, height, label, focused, render, onRange }: Props) {
  const own = useRef<HTMLDivElement>(null);
  const [top, setTop] = useState(0);
  const [size, setSize] = useState(600);
  const whole = Math.min(MOST_PIXELS, count * height);
  const room = Math.max(1, whole - size);
  // Where everything fits, a pixel scrolled is a pixel moved; past that, the scroll bar is a share of the list.
  const moved = whole < count * height ? (top / room) * (count * height - size) : top;
  const first = Math.max(0, Math.floor(moved / height) - BEYOND);
  const last = Math.min(count, Math.ceil((moved + size) / height) + BEYOND);

  useLayoutEffect(() => {
    const element = own.current;
    if (!element) return;
    const watch = new ResizeObserver(() => setSize(element.clientHeight));
    watch.observe(element);
    setSize(element.clientHeight);
    return () => watch.disconnect();
  }, []);
  useEffect(() => onRange?.(first, last), [first, last, count]);
  useEffect(() => {
    const element = own.current;
    if (!element || focused === undefined || focused < 0 || whole < count * height) return;
    const start = focused * height;
    if (start < element.scrollTop) element.scrollTop = start;
    else if (start + height > element.scrollTop + element.clientHeight) element.scrollTop = start + height - element.clientHeight;
  }, [focused]);

  const rows = [];
  for (let at = first; at < last; at += 1) {
    rows.push(
      <div key={at} class="virtual-row" role="listitem" aria-setsize={count} aria-posinset={at + 1} style={{ top: `${at * height - moved + top}px`, height: `${height}px` }}>
        {render(at)}
      </div>,
    );
  }
  return (
    <div ref={own} class="virtual" role="list" aria-label={label} tabIndex={0} onScroll={(event) => setTop((event.target as HTMLElement).scrollTop)}>
      <div class="virtual-whole" role="presentation" style={{ height: `${whole}px` }}>
        {rows}
      </div>
    </div>
  );
}
