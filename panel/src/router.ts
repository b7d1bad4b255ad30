/** Where the person is. Every view has an address of its own that can be kept, sent and reloaded. */
import { signal } from "@preact/signals";

export type Place = { path: string; query: URLSearchParams };

export const place = signal<Place>(here());

function here(): Place {
  return { path: location.pathname, query: new URLSearchParams(location.search) };
}

export function go(to: string, options: { replace?: boolean } = {}): void {
  if (to === location.pathname + location.search) return;
  history[options.replace ? "replaceState" : "pushState"](null, "", to);
  place.value = here();
}

/** The same view with other words in its query; an empty value takes the word out. */
export function withQuery(changes: Record<string, string | string[] | null>, path = place.value.path): string {
  const query = new URLSearchParams(place.value.query);
  for (const [name, value] of Object.entries(changes)) {
    query.delete(name);
    for (const one of Array.isArray(value) ? value : value === null ? [] : [value]) if (one !== "") query.append(name, one);
  }
  const text = query.toString();
  return text ? `${path}?${text}` : path;
}

window.addEventListener("popstate", () => {
  place.value = here();
});

/** Links inside the panel need no reload. */
document.addEventListener("click", (event) => {
  if (event.defaultPrevented || event.button !== 0 || event.metaKey || event.ctrlKey || event.shiftKey || event.altKey) return;
  const link = (event.target as Element | null)?.closest?.("a[href]") as HTMLAnchorElement | null;
  if (link === null || link.target || link.origin !== location.origin || link.hasAttribute("download")) return;
  if (link.pathname.startsWith("/v1/")) return;
  event.preventDefault();
  go(link.pathname + link.search);
});
