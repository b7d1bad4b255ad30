/** Small parts every view is made of. */
import type { ComponentChildren, JSX } from "preact";
import type { Problem } from "../client";
import { ago, date, named, percent, t, type Key } from "../words";
import { Icon, type IconName } from "./icons";

type ButtonProps = {
  icon?: IconName;
  look?: "plain" | "main" | "quiet" | "danger";
  small?: boolean;
  label?: string;
  children?: ComponentChildren;
} & Omit<JSX.IntrinsicElements["button"], "icon" | "label" | "children">;

/** A button. One without words has a label for those who cannot see its icon. */
export function Button({ icon, look = "plain", small, label, children, ...rest }: ButtonProps) {
  const looks = ["button", look, small ? "small" : "", children ? "" : "bare"].filter(Boolean).join(" ");
  return (
    <button type="button" class={looks} aria-label={label} title={label} {...rest}>
      {icon && <Icon name={icon} size={small ? 14 : 16} />}
      {children && <span>{children}</span>}
    </button>
  );
}

export function Badge({ tone = "plain", children }: { tone?: "plain" | "accent" | "good" | "warn" | "bad"; children: ComponentChildren }) {
  return <span class={`badge ${tone}`}>{children}</span>;
}

/** What kind of memory it is. A dead end is red wherever it shows. */
export function KindBadge({ kind }: { kind: string }) {
  const tone = kind === "dead_end" ? "bad" : "accent";
  return <Badge tone={tone}>{named("kind", kind)}</Badge>;
}

const STATUS_TONES = { active: "good", candidate: "warn", disputed: "bad", rejected: "bad" } as const;

export function StatusBadge({ status }: { status: string }) {
  return <Badge tone={STATUS_TONES[status as keyof typeof STATUS_TONES] ?? "plain"}>{named("status", status)}</Badge>;
}

/** Confidence as five dots, with the figure for those who want or need it. */
export function Dots({ value }: { value: number }) {
  const label = t("memory.confidence_is", { value: percent(value) });
  return (
    <span class="dots" role="img" aria-label={label} title={label}>
      {[0, 1, 2, 3, 4].map((at) => (
        <span key={at} class={value * 5 >= at + 0.5 ? "dot on" : "dot"} />
      ))}
    </span>
  );
}

export function When({ at }: { at: string }) {
  return (
    <time dateTime={at} title={date(at)}>
      {ago(at)}
    </time>
  );
}

export function Kbd({ keys }: { keys: string }) {
  const isMac = /Mac|iPhone|iPad/.test(navigator.platform);
  const shown = keys.replace("mod", isMac ? "⌘" : "Ctrl").replace("shift", isMac ? "⇧" : "Shift").replace("Escape", "Esc").replace("ArrowDown", "↓").replace("ArrowUp", "↑");
  return (
    <span class="keys">
      {shown.split(/[ +]/).map((key) => (
        <kbd key={key}>{key.length === 1 ? key.toUpperCase() : key}</kbd>
      ))}
    </span>
  );
}

/** Nothing here, and what to do about it. */
export function Empty({ icon = "memories", title, children }: { icon?: IconName; title: string; children?: ComponentChildren }) {
  return (
    <div class="empty">
      <span class="halo">
        <Icon name={icon} size={22} />
      </span>
      <h2>{title}</h2>
      <div class="hint">{children}</div>
    </div>
  );
}

/** A request failed: what, why and the way on. */
export function Failure({ problem, retry }: { problem: Problem; retry?: () => void }) {
  return (
    <div class="empty" role="alert">
      <span class="halo bad">
        <Icon name="warning" size={22} />
      </span>
      <h2>{problemTitle(problem)}</h2>
      <div class="hint">
        {problem.code !== "offline" && <p>{problem.detail}</p>}
        {problem.hint && <p>{problem.hint}</p>}
        {retry && (
          <Button icon="undo" onClick={retry}>
            {t("try_again")}
          </Button>
        )}
      </div>
    </div>
  );
}

const TITLES: Record<string, Key> = {
  offline: "problem.offline",
  "memory-not-found": "problem.not_found",
  "stale-edit": "problem.stale_edit",
  "store-damaged": "problem.damaged",
  "store-replaced": "problem.replaced",
  "store-gone": "problem.replaced",
  "store-busy": "problem.busy",
  "token-missing": "problem.logged_out",
  "server-busy": "problem.busy",
};

export function problemTitle(problem: Problem): string {
  const key = TITLES[problem.code];
  return key ? t(key) : t("problem.usual");
}

export function Skeleton({ lines = 3 }: { lines?: number }) {
  return (
    <div class="skeleton" role="status" aria-label={t("loading")}>
      {Array.from({ length: lines }, (_, at) => (
        <span key={at} class={`bone w${(at * 3) % 4}`} />
      ))}
    </div>
  );
}

/** A command for the terminal, shown as such. */
export function Command({ text }: { text: string }) {
  return <code class="command">{text}</code>;
}

export function Card({ title, aside, children, id }: { title?: string; aside?: ComponentChildren; children: ComponentChildren; id?: string }) {
  return (
    <section class="card" aria-labelledby={title && id ? id : undefined}>
      {title && (
        <header>
          <h2 id={id}>{title}</h2>
          {aside}
        </header>
      )}
      {children}
    </section>
  );
}

/** Two to five choices of which one holds. */
export function Segments<T extends string>({ label, value, choices, onChoose }: { label: string; value: T; choices: { value: T; text: string }[]; onChoose: (value: T) => void }) {
  return (
    <div class="segments" role="group" aria-label={label}>
      {choices.map((one) => (
        <button key={one.value} type="button" aria-pressed={one.value === value} onClick={() => onChoose(one.value)}>
          {one.text}
        </button>
      ))}
    </div>
  );
}
