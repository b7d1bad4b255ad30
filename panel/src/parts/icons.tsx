/** The icons: strokes of one weight in the colour of the text beside them. Decoration only; words carry the meaning. */
const PATHS = {
  home: "M3 10.5 12 3l9 7.5M5.5 9v11h13V9M10 20v-6h4v6",
  memories: "M4 6.5c0-1.9 3.6-3.5 8-3.5s8 1.6 8 3.5S16.400 10 12 10 4 8.400 4 6.500zM4 6.500v11C4 19.400 7.600 21 12 21s8-1.600 8-3.500v-11M4 12c0 1.900 3.600 3.500 8 3.500s8-1.600 8-3.500",
  ask: "M4 5h16v11H9l-5 4zM9.500 9.200c.3-1.200 1.300-1.700 2.500-1.700 1.500 0 2.500.8 2.500 2 0 1.600-2.500 1.600-2.500 3",
  review: "M4 6h11M4 12h7M4 18h5M13.500 16.500l2.500 2.500 5-6",
  map: "M6 7.500a2.500 2.500 0 1 0 0-5 2.500 2.500 0 0 0 0 5zM18 12.500a2.500 2.500 0 1 0 0-5 2.500 2.500 0 0 0 0 5zM8 21.500a2.500 2.500 0 1 0 0-5 2.500 2.500 0 0 0 0 5zM8.300 6l7.200 3M16 11.700l-6.200 5.500M6.300 7.500l1.400 9",
  sessions: "M12 7v5l3 2M3.500 12a8.500 8.500 0 1 0 2.600-6.100M3.500 4v3.500H7",
  documents: "M6 3h8l4 4v14H6zM14 3v4h4M9 12h6M9 16h6",
  settings: "M4 7h9M17 7h3M4 17h3M11 17h9M15 9.500a2.500 2.500 0 1 0 0-5 2.500 2.500 0 0 0 0 5zM9 19.500a2.500 2.500 0 1 0 0-5 2.500 2.500 0 0 0 0 5z",
  search: "M10.500 17.500a7 7 0 1 0 0-14 7 7 0 0 0 0 14zM15.500 15.500 21 21",
  check: "M5 12.500l4.500 4.500L19 7.500",
  cross: "M6 6l12 12M18 6L6 18",
  pen: "M4 20l1-4L16.500 4.500l3 3L8 19zM14 7l3 3",
  flag: "M5 21V4h13l-3 4.500 3 4.500H5",
  pin: "M9 3h6l-1 6 4 4H6l4-4zM12 13v8",
  trash: "M4 7h16M9 7V4h6v3M6.500 7l1 13h9l1-13M10 11v5M14 11v5",
  undo: "M8 5L4 9l4 4M4 9h10a5.500 5.500 0 0 1 0 11H9",
  menu: "M4 7h16M4 12h16M4 17h16",
  plus: "M12 5v14M5 12h14",
  sun: "M12 16a4 4 0 1 0 0-8 4 4 0 0 0 0 8zM12 2v2.500M12 19.500V22M2 12h2.500M19.500 12H22M5 5l1.800 1.800M17.200 17.200 19 19M5 19l1.800-1.800M17.200 6.800 19 5",
  moon: "M20 14.500A8.500 8.500 0 0 1 9.500 4a8.500 8.500 0 1 0 10.500 10.500z",
  filter: "M4 5h16l-6 7.500V19l-4-2v-4.500z",
  file: "M7 3h7l4 4v14H7zM14 3v4h4",
  chevron: "M9 6l6 6-6 6",
  down: "M6 9l6 6 6-6",
  warning: "M12 4 2.500 20h19zM12 10v4.500M12 17.300v.2",
  keyboard: "M3 6h18v12H3zM7 10h.01M11 10h.01M15 10h.01M7 14h10",
  copy: "M9 9h11v11H9zM5 15H4V4h11v1",
  link: "M10 14l4-4M8.500 11.500 6 14a3.500 3.500 0 0 0 5 5l2.500-2.500M15.500 12.500 18 10a3.500 3.500 0 0 0-5-5l-2.500 2.500",
  spark: "M12 3v6M12 15v6M3 12h6M15 12h6",
  wrench: "M14.500 6.500a4 4 0 0 0-5 5L4 17l3 3 5.500-5.500a4 4 0 0 0 5-5L15 12l-3-3z",
  person: "M12 11a3.500 3.500 0 1 0 0-7 3.500 3.500 0 0 0 0 7zM5 20c.6-3.800 3.400-6 7-6s6.400 2.200 7 6",
  clock: "M12 21a9 9 0 1 0 0-18 9 9 0 0 0 0 18zM12 7v5l3.500 2",
  list: "M8 6h12M8 12h12M8 18h12M4 6h.01M4 12h.01M4 18h.01",
} as const;

export type IconName = keyof typeof PATHS;

export function Icon({ name, size = 16 }: { name: IconName; size?: number }) {
  return (
    <svg class="icon" width={size} height={size} viewBox="0 0 24 24" aria-hidden="true" focusable="false">
      <path d={PATHS[name]} fill="none" stroke="currentColor" stroke-width="1.75" stroke-linecap="round" stroke-linejoin="round" />
    </svg>
  );
}
