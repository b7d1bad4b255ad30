/** Starts the panel: logs in with the code of the address where there is one, then shows the view that is asked for. */
import { render } from "preact";
import "./style/base.css";
import "./style/parts.css";
import "./style/views.css";
import { App } from "./app";
import { Problem, send } from "./client";
import { listen } from "./live";
import { session, trouble } from "./state";

async function begin(): Promise<void> {
  const code = new URLSearchParams(location.hash.slice(1)).get("code");
  if (code !== null) {
    history.replaceState(null, "", location.pathname + location.search); // a used code has no business in the history
    try {
      await send("POST", "/v1/session", { Authorization: `Code ${code}` });
    } catch (error) {
      if (!(error instanceof Problem)) throw error; // a code that was used before: the cookie may still be good
    }
  }
  session.value = "unknown";
  try {
    await send("GET", "/v1/memories?limit=1");
    session.value = "in";
  } catch (error) {
    if (!(error instanceof Problem)) throw error;
    if (error.status === 401) session.value = "out";
    else {
      session.value = "in";
      if (error.status >= 500) trouble.value = error;
    }
  }
  if (session.value === "in") listen();
}

const root = document.getElementById("app");
if (root) render(<App />, root);
void begin();
