/** What every view shares: who is logged in, which store is open, how the page looks, what just happened. */
import { effect, signal } from "@preact/signals";
import type { Problem } from "./client";

export type Theme = "system" | "light" | "dark";
export type Connection = "connecting" | "live" | "down";

export const session = signal<"unknown" | "in" | "out">("unknown");
export const store = signal<"project" | "personal">("project");
export const project = signal("");
export const connection = signal<Connection>("connecting");
export const trouble = signal<Problem | null>(null); // the store cannot be read at the moment
export const waiting = signal(0); // requests that take long
export const toReview = signal<number | null>(null);
export const moved = signal(0); // grows when something changed in the store
export const theme = signal<Theme>(recall("theme", ["system", "light", "dark"], "system"));

export type Toast = { id: number; text: string; undo?: () => void; bad?: boolean };
export const toasts = signal<Toast[]>([]);
const TOAST_MS = 8_000;
const ASKING_TOAST_MS = 20_000; // one with a way back, or with bad news, is given time to be read
const held = signal(false); // somebody is at the toasts: none goes
let lastToast = 0;

/** Say what happened; with a way back where there is one. */
export function tell(text: string, options: { undo?: () => void; bad?: boolean } = {}): void {
  const toast = { id: ++lastToast, text, ...options };
  toasts.value = [...toasts.value.slice(-2), toast];
  fade(toast.id, options.undo || options.bad ? ASKING_TOAST_MS : TOAST_MS);
}

function fade(id: number, ms: number): void {
  window.setTimeout(() => (held.value ? fade(id, TOAST_MS) : dismiss(id)), ms);
}

/** Keep the toasts for as long as a pointer or the focus is on them. */
export function holdToasts(isHeld: boolean): void {
  held.value = isHeld;
}

export function dismiss(id: number): void {
  toasts.value = toasts.value.filter((one) => one.id !== id);
}

/** A choice of this browser. Storage may be off: then it lasts as long as the page. */
export function recall<T extends string>(name: string, choices: readonly T[], usual: T): T {
  try {
    const found = localStorage.getItem(`recollect.${name}`) as T | null;
    return found !== null && choices.includes(found) ? found : usual;
  } catch {
    return usual;
  }
}

export function keep(name: string, value: string): void {
  try {
    localStorage.setItem(`recollect.${name}`, value);
  } catch {
    // private windows may refuse: the choice then holds for this page
  }
}

effect(() => {
  keep("theme", theme.value);
  if (theme.value === "system") delete document.documentElement.dataset.theme;
  else document.documentElement.dataset.theme = theme.value;
});
