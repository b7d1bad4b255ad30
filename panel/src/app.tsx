/** The frame around every view: navigation, search, connection, and what holds on every page. */
import { useEffect, useRef, useState } from "preact/hooks";
import { Button, Command, Kbd, problemTitle, Skeleton } from "./parts/basic";
import { Dialog } from "./parts/dialog";
import { Icon, type IconName } from "./parts/icons";
import { Toasts } from "./parts/toasts";
import { shortcuts, useKeys } from "./keys";
import { listen } from "./live";
import { go, place, withQuery } from "./router";
import { connection, moved, project, session, store, theme, toReview, trouble, type Theme, waiting } from "./state";
import { Ask } from "./views/ask";
import { Documents } from "./views/documents";
import { Home } from "./views/home";
import { ModuleMap } from "./views/map";
import { Memories } from "./views/memories";
import { Review } from "./views/review";
import { Sessions } from "./views/sessions";
import { Settings } from "./views/settings";
import { Teach, teach } from "./views/teach";
import { undo } from "./acts";
import { call } from "./client";
import { choose, language, number, t, type Key } from "./words";

type View = { path: string; name: Key; icon: IconName; key: string };
const VIEWS: View[] = [
  { path: "/", name: "nav.home", icon: "home", key: "g h" },
  { path: "/memories", name: "nav.memories", icon: "memories", key: "g m" },
  { path: "/ask", name: "nav.ask", icon: "ask", key: "g a" },
  { path: "/review", name: "nav.review", icon: "review", key: "g r" },
  { path: "/map", name: "nav.map", icon: "map", key: "g p" },
  { path: "/sessions", name: "nav.sessions", icon: "sessions", key: "g s" },
  { path: "/documents", name: "nav.documents", icon: "documents", key: "g d" },
  { path: "/settings", name: "nav.settings", icon: "settings", key: "g e" },
];

export function App() {
  const [isHelping, setHelping] = useState(false);
  const [isMenuOpen, setMenuOpen] = useState(false);
  const { path } = place.value;
  const [, first = "", ...rest] = path.split("/");
  const inner = rest.length ? decodeURIComponent(rest.join("/")) : null;
  const view = VIEWS.find((one) => one.path === `/${first}`);
  useEffect(() => {
    document.title = view && view.path !== "/" ? `${t(view.name)} · Recollect` : "Recollect";
  }, [view, language.value]);
  useEffect(() => setMenuOpen(false), [path]);
  useEffect(() => {
    if (session.value !== "in") return;
    call("read_status").then((status) => (project.value = status.project), () => (project.value = ""));
  }, [session.value, store.value]);
  useKeys(
    [
      ...VIEWS.map((one) => ({ keys: one.key, about: one.name, run: () => go(one.path) })),
      { keys: "n", about: "teach.title" as Key, run: teach },
      { keys: "z", about: "key.undo" as Key, run: () => void undo() },
      { keys: "?", about: "key.help" as Key, run: () => setHelping(true) },
    ],
    [],
  );
  if (session.value === "out") return <LoggedOut />;
  return (
    <div class={isMenuOpen ? "frame menu-open" : "frame"}>
      <a class="skip" href="#main" onClick={(event) => { event.preventDefault(); document.getElementById("main")?.focus(); }}>
        {t("skip")}
      </a>
      <Sidebar current={`/${first}`} onHelp={() => setHelping(true)} />
      {isMenuOpen && <button type="button" class="veil" aria-label={t("close")} onClick={() => setMenuOpen(false)} />}
      <div class="content">
        <TopBar onMenu={() => setMenuOpen(!isMenuOpen)} isMenuOpen={isMenuOpen} />
        <Banner />
        <main id="main" tabIndex={-1} class={first === "memories" || first === "review" ? "fixed" : ""}>
          {session.value === "unknown" ? <Skeleton lines={8} /> : <Current first={first} inner={inner} />}
        </main>
      </div>
      <Toasts />
      <Teach />
      {isHelping && <Help onClose={() => setHelping(false)} />}
    </div>
  );
}

function Current({ first, inner }: { first: string; inner: string | null }) {
  switch (first) {
    case "":
      return <Home />;
    case "memories":
      return <Memories id={inner} />;
    case "ask":
      return <Ask />;
    case "review":
      return <Review id={inner} />;
    case "map":
      return <ModuleMap />;
    case "sessions":
      return <Sessions id={inner} />;
    case "documents":
      return <Documents />;
    case "settings":
      return <Settings section={inner} />;
    default:
      return (
        <div class="empty">
          <h1>{t("lost.title")}</h1>
          <p>
            <a href="/">{t("lost.home")}</a>
          </p>
        </div>
      );
  }
}

function Sidebar({ current, onHelp }: { current: string; onHelp: () => void }) {
  return (
    <nav class="sidebar" aria-label={t("nav.title")}>
      <div class="brand">
        <img src="/icon.svg" width="24" height="24" alt="" />
        <div>
          <strong>Recollect</strong>
          <span class="dim">{store.value === "personal" ? t("store.personal") : project.value}</span>
        </div>
      </div>
      <ul>
        {VIEWS.map((one) => (
          <li key={one.path}>
            <a href={one.path} aria-current={current === one.path ? "page" : undefined} title={one.key.toUpperCase()}>
              <Icon name={one.icon} size={18} />
              <span>{t(one.name)}</span>
              {one.path === "/review" && !!toReview.value && <span class="nav-count">{number(toReview.value)}</span>}
            </a>
          </li>
        ))}
      </ul>
      <div class="sidebar-foot">
        <label class="field">
          <span>{t("store.title")}</span>
          <select
            value={store.value}
            onChange={(event) => {
              store.value = event.currentTarget.value as "project" | "personal";
              toReview.value = null;
              listen();
              moved.value += 1;
            }}
          >
            <option value="project">{t("store.project")}</option>
            <option value="personal">{t("store.personal")}</option>
          </select>
        </label>
        <div class="foot-row">
          <label>
            <span class="only-read">{t("language.title")}</span>
            <select value={language.value} onChange={(event) => choose(event.currentTarget.value as "en" | "fr")}>
              <option value="en">English</option>
              <option value="fr">Français</option>
            </select>
          </label>
          <label>
            <span class="only-read">{t("theme.title")}</span>
            <select value={theme.value} onChange={(event) => (theme.value = event.currentTarget.value as Theme)}>
              <option value="system">{t("theme.system")}</option>
              <option value="light">{t("theme.light")}</option>
              <option value="dark">{t("theme.dark")}</option>
            </select>
          </label>
        </div>
        <Button look="quiet" small icon="keyboard" onClick={onHelp}>
          {t("key.help")}
        </Button>
      </div>
    </nav>
  );
}

function TopBar({ onMenu, isMenuOpen }: { onMenu: () => void; isMenuOpen: boolean }) {
  const field = useRef<HTMLInputElement>(null);
  const isWaiting = waiting.value > 0 && connection.value !== "down";
  const isHere = place.value.path.startsWith("/memories");
  const text = isHere ? (place.value.query.get("q") ?? "") : "";
  const search = () => {
    field.current?.focus();
    field.current?.select();
  };
  useKeys(
    [
      { keys: "mod+shift+m", about: "key.search", run: search },
      { keys: "/", about: "key.search", run: search },
    ],
    [],
  );
  return (
    <header class="topbar">
      <span class="narrow-only">
        <Button look="quiet" icon="menu" label={t("nav.title")} aria-expanded={isMenuOpen} onClick={onMenu} />
      </span>
      <form role="search" class="search" onSubmit={(event) => { event.preventDefault(); if (!isHere) go("/memories"); }}>
        <Icon name="search" />
        <input
          ref={field}
          type="search"
          value={text}
          placeholder={t("search.placeholder")}
          aria-label={t("search.placeholder")}
          onInput={(event) => {
            const value = event.currentTarget.value;
            if (isHere) go(withQuery({ q: value }), { replace: true });
            else go(`/memories?q=${encodeURIComponent(value)}`);
          }}
          onKeyDown={(event) => {
            if (event.key === "Escape") field.current?.blur();
          }}
        />
        <Kbd keys="mod+shift+m" />
      </form>
      <span class={`connection ${isWaiting ? "waiting" : connection.value}`} role="status">
        <span class="light" />
        <span class="connection-word">{t(`connection.${isWaiting ? "waiting" : connection.value}`)}</span>
      </span>
      <Button look="main" icon="plus" onClick={teach}>
        {t("teach.short")}
      </Button>
    </header>
  );
}

/** What is wrong with the server or the store, for as long as it is. */
function Banner() {
  if (connection.value === "down" && trouble.value === null) {
    return (
      <div class="banner" role="alert">
        <Icon name="warning" />
        <div>
          <strong>{t("banner.down")}</strong> {t("banner.down_about")} <Command text="recollect panel" />
        </div>
      </div>
    );
  }
  if (trouble.value === null) return null;
  return (
    <div class="banner bad" role="alert">
      <Icon name="warning" />
      <div>
        <strong>{problemTitle(trouble.value)}</strong> {trouble.value.detail} {trouble.value.hint}
      </div>
    </div>
  );
}

function LoggedOut() {
  return (
    <main class="logged-out">
      <img src="/icon.svg" width="48" height="48" alt="" />
      <h1>{t("login.title")}</h1>
      <p>{t("login.about")}</p>
      <Command text="recollect panel" />
      <p class="dim">{t("login.why")}</p>
    </main>
  );
}

function Help({ onClose }: { onClose: () => void }) {
  const all = shortcuts.value.flat();
  return (
    <Dialog title={t("key.help")} onClose={onClose}>
      <dl class="shortcuts">
        {all.map((one) => (
          <div key={one.keys + one.about}>
            <dt>
              <Kbd keys={one.keys} />
            </dt>
            <dd>{t(one.about)}</dd>
          </div>
        ))}
      </dl>
    </Dialog>
  );
}
