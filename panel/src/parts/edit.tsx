/** Teaching a new memory and editing one, both with a preview of what will be kept. */
import { useState } from "preact/hooks";
import { attempt, toldDone } from "../acts";
import type { MemoryChanges, NewMemory, WholeMemory } from "../api";
import { asProblem, call, type Problem } from "../client";
import { bump } from "../live";
import { go } from "../router";
import { tell } from "../state";
import { named, t } from "../words";
import { Badge, Button, KindBadge } from "./basic";
import { Dialog } from "./dialog";

export const KINDS = [
  "fact", "decision", "preference", "gotcha", "pattern", "requirement", "error_pattern", "dead_end", "module_insight",
  "workflow_recipe", "causal_dependency", "work_state", "reflection",
] as const;
const SCOPES = ["global", "module", "work_unit", "session"] as const;

type Form = { content: string; kind: string; tags: string; files: string; scope: string; valid: string };

function formOf(memory?: WholeMemory): Form {
  return {
    content: memory?.content ?? "",
    kind: memory?.kind ?? "fact",
    tags: memory?.tags?.join(", ") ?? "",
    files: memory?.files?.join(", ") ?? "",
    scope: memory?.scope ?? "global",
    valid: memory?.valid_until?.slice(0, 10) ?? "",
  };
}

function list(text: string): string[] {
  return [...new Set(text.split(",").map((one) => one.trim()).filter(Boolean))];
}

/** The fields that differ from what is stored. */
function changes(form: Form, memory: WholeMemory): MemoryChanges {
  const before = formOf(memory);
  const found: MemoryChanges = {};
  if (form.content.trim() !== memory.content) found.content = form.content.trim();
  if (form.kind !== before.kind) found.kind = form.kind;
  if (form.scope !== before.scope) found.scope = form.scope as NonNullable<MemoryChanges["scope"]>;
  if (list(form.tags).join() !== list(before.tags).join()) found.tags = list(form.tags);
  if (list(form.files).join() !== list(before.files).join()) found.files = list(form.files);
  if (form.valid !== before.valid) found.valid_until = form.valid ? `${form.valid}T00:00:00Z` : null;
  return found;
}

export function EditDialog({ memory, onClose }: { memory: WholeMemory; onClose: () => void }) {
  const [form, setForm] = useState(formOf(memory));
  const [problem, setProblem] = useState<Problem | null>(null);
  const found = changes(form, memory);
  const names = Object.keys(found);
  const save = async () => {
    try {
      const { revision } = await call("edit_memory", { path: { id: memory.id }, body: found, revision: memory.revision });
      toldDone("edit", memory.id, revision);
      onClose();
    } catch (error) {
      setProblem(asProblem(error));
    }
  };
  return (
    <Dialog title={t("edit.title")} onClose={onClose} wide>
      <Fields form={form} onChange={setForm} kinds={[...new Set([memory.kind, ...KINDS])]} />
      <section class="preview" aria-live="polite">
        <h3>{t("edit.preview")}</h3>
        {names.length === 0 ? (
          <p class="dim">{t("edit.same")}</p>
        ) : (
          <>
            {found.content !== undefined && (
              <p>
                <del>{memory.content}</del> <ins>{found.content}</ins>
              </p>
            )}
            <p class="dim">{t("edit.changes", { names: names.map((name) => named("field", name)).join(", ") })}</p>
          </>
        )}
      </section>
      {problem && (
        <p class="note bad" role="alert">
          {problem.status === 412 ? t("problem.stale_edit_about") : `${problem.detail} ${problem.hint}`}
        </p>
      )}
      <footer>
        <Button onClick={onClose}>{t("cancel")}</Button>
        <Button look="main" icon="check" disabled={names.length === 0 || !form.content.trim()} onClick={() => void save()}>
          {t("edit.save")}
        </Button>
      </footer>
    </Dialog>
  );
}

export function TeachDialog({ onClose }: { onClose: () => void }) {
  const [form, setForm] = useState(formOf());
  const [busy, setBusy] = useState(false);
  const save = async () => {
    setBusy(true);
    await attempt(async () => {
      const body: NewMemory = { content: form.content.trim(), kind: form.kind, tags: list(form.tags), files: list(form.files), scope: form.scope as NonNullable<NewMemory["scope"]> };
      if (form.valid) body.valid_until = `${form.valid}T00:00:00Z`;
      const receipt = await call("remember_memory", { body });
      const told = receipt.redacted.length > 0 ? t("teach.redacted") : t(`verdict.${receipt.verdict}`);
      tell(told);
      bump();
      onClose();
      go(`/memories/${encodeURIComponent(receipt.id)}`);
    });
    setBusy(false);
  };
  return (
    <Dialog title={t("teach.title")} onClose={onClose} wide>
      <p class="dim">{t("teach.about")}</p>
      <Fields form={form} onChange={setForm} kinds={[...KINDS]} />
      {form.content.trim() && (
        <section class="preview">
          <h3>{t("edit.preview")}</h3>
          <p>{form.content.trim()}</p>
          <p class="row-meta">
            <KindBadge kind={form.kind} />
            <Badge>{named("source", "user_taught")}</Badge>
            {list(form.tags).map((tag) => (
              <Badge key={tag}>{tag}</Badge>
            ))}
          </p>
        </section>
      )}
      <footer>
        <Button onClick={onClose}>{t("cancel")}</Button>
        <Button look="main" icon="check" disabled={busy || !form.content.trim()} onClick={() => void save()}>
          {t("teach.save")}
        </Button>
      </footer>
    </Dialog>
  );
}

function Fields({ form, onChange, kinds }: { form: Form; onChange: (form: Form) => void; kinds: string[] }) {
  const set = (name: keyof Form) => (event: { currentTarget: { value: string } }) => onChange({ ...form, [name]: event.currentTarget.value });
  return (
    <div class="fields">
      <label class="field whole">
        <span>{t("edit.content")}</span>
        <textarea rows={4} value={form.content} onInput={set("content")} />
      </label>
      <label class="field">
        <span>{t("memory.kind")}</span>
        <select value={form.kind} onChange={set("kind")}>
          {kinds.map((kind) => (
            <option key={kind} value={kind}>
              {named("kind", kind)}
            </option>
          ))}
        </select>
      </label>
      <label class="field">
        <span>{t("memory.scope")}</span>
        <select value={form.scope} onChange={set("scope")}>
          {SCOPES.map((scope) => (
            <option key={scope} value={scope}>
              {named("scope", scope)}
            </option>
          ))}
        </select>
      </label>
      <label class="field">
        <span>{t("edit.tags")}</span>
        <input type="text" value={form.tags} onInput={set("tags")} />
      </label>
      <label class="field">
        <span>{t("edit.files")}</span>
        <input type="text" value={form.files} onInput={set("files")} />
      </label>
      <label class="field">
        <span>{t("memory.valid_until")}</span>
        <input type="date" value={form.valid} onInput={set("valid")} />
      </label>
    </div>
  );
}
