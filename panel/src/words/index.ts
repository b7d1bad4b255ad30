/** Everything the panel says, in the person's language. A missing word is a type error, and a test finds it too. */
import { effect, signal } from "@preact/signals";
import { keep, recall } from "../state";
import { en } from "./en";
import { fr } from "./fr";

export type Key = keyof typeof en;
export type Language = "en" | "fr";

const CATALOGUES: Record<Language, Record<Key, string>> = { en, fr };
const usual: Language = navigator.language.toLowerCase().startsWith("fr") ? "fr" : "en";

export const language = signal<Language>(recall("language", ["en", "fr"], usual));

effect(() => {
  document.documentElement.lang = language.value;
});

/** Another language, from now on and at the next visit. Until one is chosen, the browser's language holds. */
export function choose(next: Language): void {
  keep("language", next);
  language.value = next;
}

/** The words for a key. `{name}` takes a value; with `n`, "one | several" takes the form that fits the number. */
export function t(key: Key, values: Record<string, string | number> = {}): string {
  let text = CATALOGUES[language.value][key];
  if ("n" in values && text.includes(" | ")) {
    const [one, several] = text.split(" | ");
    const form = new Intl.PluralRules(language.value).select(Number(values.n));
    text = (form === "one" ? one : several) ?? text;
  }
  return text.replace(/\{(\w+)\}/g, (whole, name: string) => {
    const value = values[name];
    return value === undefined ? whole : typeof value === "number" ? number(value) : value;
  });
}

/** The words for one of a list's names, as `kind.gotcha`; a name that is not ours is shown as it is. */
export function named(list: string, name: string): string {
  const found = CATALOGUES[language.value][`${list}.${name}` as Key];
  return found ?? name.replaceAll("_", " ");
}

export function number(value: number): string {
  return new Intl.NumberFormat(language.value, { maximumFractionDigits: 1 }).format(value);
}

export function percent(value: number): string {
  return new Intl.NumberFormat(language.value, { style: "percent" }).format(value);
}

export function bytes(value: number): string {
  const units = ["byte", "kilobyte", "megabyte", "gigabyte"] as const;
  const power = Math.min(units.length - 1, value < 1 ? 0 : Math.floor(Math.log10(value) / 3));
  const options = { style: "unit", unit: units[power], unitDisplay: "short", maximumFractionDigits: 1 } as const;
  return new Intl.NumberFormat(language.value, options).format(value / 1000 ** power);
}

const STEPS: [Intl.RelativeTimeFormatUnit, number][] = [
  ["year", 31_536_000],
  ["month", 2_592_000],
  ["week", 604_800],
  ["day", 86_400],
  ["hour", 3_600],
  ["minute", 60],
];

/** How long ago, in the shortest words. */
export function ago(at: string | number, now = Date.now()): string {
  const seconds = (new Date(at).getTime() - now) / 1000;
  const format = new Intl.RelativeTimeFormat(language.value, { numeric: "auto", style: language.value === "fr" ? "long" : "short" });
  for (const [unit, size] of STEPS) if (Math.abs(seconds) >= size) return format.format(Math.round(seconds / size), unit);
  return t("time.now");
}

export function date(at: string): string {
  return new Intl.DateTimeFormat(language.value, { dateStyle: "medium", timeStyle: "short" }).format(new Date(at));
}

export function day(at: string): string {
  return new Intl.DateTimeFormat(language.value, { day: "numeric", month: "short", timeZone: "UTC" }).format(new Date(at));
}

export function clock(at: string): string {
  return new Intl.DateTimeFormat(language.value, { timeStyle: "medium" }).format(new Date(at));
}
