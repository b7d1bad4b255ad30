/** The form to teach something, opened from anywhere. */
import { signal } from "@preact/signals";
import { TeachDialog } from "../parts/edit";

const isOpen = signal(false);

export function teach(): void {
  isOpen.value = true;
}

export function Teach() {
  return isOpen.value ? <TeachDialog onClose={() => (isOpen.value = false)} /> : null;
}
