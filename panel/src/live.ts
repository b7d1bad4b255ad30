/** The event stream: what changes in the store, as it changes. Reconnects by itself for as long as the page is open. */
import { address, Problem, send } from "./client";
import { connection, moved, session, store, toReview, trouble } from "./state";

const FIRST_WAIT_MS = 500;
const LONGEST_WAIT_MS = 8_000;
const SETTLE_MS = 250; // several changes at once are one reload

let source: EventSource | null = null;
let timer = 0;
let settling = 0;
let wait = FIRST_WAIT_MS;
let wasDown = false;

/** Something changed: views load again. */
export function bump(): void {
  window.clearTimeout(settling);
  settling = window.setTimeout(() => {
    moved.value += 1;
  }, SETTLE_MS);
}

export function listen(): void {
  stop();
  connection.value = wasDown ? "down" : "connecting";
  const query = store.value === "personal" ? { store: "personal" } : {};
  source = new EventSource(address("/v1/events", query));
  source.onopen = () => {
    connection.value = "live";
    wait = FIRST_WAIT_MS;
    if (wasDown) bump(); // what happened meanwhile was missed
    wasDown = false;
  };
  source.onerror = () => lost();
  for (const name of ["memory", "job", "told", "note", "reset"]) source.addEventListener(name, () => sound(bump));
  for (const name of ["ready", "review"]) {
    source.addEventListener(name, (event) => sound(() => counted((event as MessageEvent<string>).data)));
  }
  source.addEventListener("trouble", (event) => {
    const told = JSON.parse((event as MessageEvent<string>).data);
    trouble.value = new Problem(String(told.code), String(told.detail), String(told.hint ?? ""), 503);
  });
}

export function stop(): void {
  window.clearTimeout(timer);
  source?.close();
  source = null;
}

/** An event that is not trouble: the store can be read again. */
function sound(then: () => void): void {
  if (trouble.value !== null) {
    trouble.value = null;
    bump();
  }
  then();
}

function counted(data: string): void {
  const told = JSON.parse(data) as { to_review?: number };
  if (typeof told.to_review === "number") toReview.value = told.to_review;
}

/** The stream broke. A browser gives up on a refusal, so we ask why and try again, ever more slowly. */
function lost(): void {
  stop();
  wasDown = true;
  connection.value = "down";
  timer = window.setTimeout(async () => {
    wait = Math.min(LONGEST_WAIT_MS, wait * 2);
    if (session.value === "out") return;
    try {
      await send("GET", "/v1/health");
      trouble.value = null;
    } catch (error) {
      if (error instanceof Problem && error.status >= 500) trouble.value = error;
      if (error instanceof Problem && error.code === "offline") {
        lost();
        return;
      }
    }
    if ((session.value as string) !== "out") listen();
  }, wait);
}
