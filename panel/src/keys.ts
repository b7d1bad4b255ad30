/** Keyboard shortcuts: a few that hold everywhere, and those of the view that is open. Never while somebody types. */
import { signal } from "@preact/signals";
import { useEffect } from "preact/hooks";
import type { Key } from "./words";

export type Shortcut = { keys: string; about: Key; run: () => void };

export const shortcuts = signal<Shortcut[][]>([]);
const SEQUENCE_MS = 900;
let before = "";
let beforeAt = 0;

/** The shortcuts of a part of the page, for as long as it is there. */
export function useKeys(own: Shortcut[], deps: unknown[]): void {
  useEffect(() => {
    shortcuts.value = [...shortcuts.value, own];
    return () => {
      shortcuts.value = shortcuts.value.filter((one) => one !== own);
    };
  }, deps);
}

function isTyping(target: EventTarget | null): boolean {
  const element = target as HTMLElement | null;
  if (!element?.closest) return false;
  return element.isContentEditable || element.closest("textarea, select, input:not([type=checkbox]):not([type=radio])") !== null;
}

function named(event: KeyboardEvent): string {
  const held = event.ctrlKey || event.metaKey;
  if (held && event.shiftKey && event.code === "KeyM") return "mod+shift+m";
  if (held || event.altKey) return "";
  return event.key.length === 1 ? event.key.toLowerCase() : event.key;
}

document.addEventListener("keydown", (event) => {
  const name = named(event);
  if (!name || event.isComposing) return;
  if (name !== "mod+shift+m" && (isTyping(event.target) || (document.querySelector("dialog[open]") && name !== "Escape"))) return;
  const sequence = Date.now() - beforeAt < SEQUENCE_MS ? `${before} ${name}` : "";
  before = name;
  beforeAt = Date.now();
  for (const own of [...shortcuts.value].reverse()) {
    const found = own.find((one) => one.keys === sequence) ?? own.find((one) => one.keys === name);
    if (found) {
      event.preventDefault();
      before = "";
      found.run();
      return;
    }
  }
});
