/** Correcting a memory: what is wrong with it decides what happens to the old one. */
import { useState } from "preact/hooks";
import { attempt, toldDone } from "../acts";
import type { CorrectionBody, WholeMemory } from "../api";
import { call } from "../client";
import { useLoad, useRested } from "../hooks";
import { t } from "../words";
import { Button } from "./basic";
import { Dialog } from "./dialog";

type Reason = NonNullable<CorrectionBody["reason"]>;
const REASONS: Reason[] = ["inaccurate", "outdated", "too_specific", "duplicate"];

export function CorrectDialog({ memory, onClose }: { memory: WholeMemory; onClose: () => void }) {
  const [reason, setReason] = useState<Reason>("inaccurate");
  const [content, setContent] = useState(memory.content);
  const [twin, setTwin] = useState("");
  const [why, setWhy] = useState("");
  const [busy, setBusy] = useState(false);
  const isChanged = content.trim() !== "" && content.trim() !== memory.content;
  const isReady = reason === "outdated" || (reason === "duplicate" ? twin !== "" : isChanged);

  const save = async () => {
    setBusy(true);
    const body: CorrectionBody = { reason, why };
    if (reason === "duplicate") body.duplicate_of = twin;
    else if (isChanged) body.content = content.trim();
    const isDone = await attempt(() => call("correct_memory", { path: { id: memory.id }, body, revision: memory.revision }));
    setBusy(false);
    if (isDone) {
      toldDone("correct", memory.id, memory.revision + 1); // one change raises it by one: undo refuses any other
      onClose();
    }
  };
  return (
    <Dialog title={t("correct.title")} onClose={onClose} wide>
      <blockquote class="quoted">{memory.content}</blockquote>
      <fieldset class="reasons">
        <legend>{t("correct.what")}</legend>
        {REASONS.map((one) => (
          <label key={one} class={one === reason ? "choice on" : "choice"}>
            <input type="radio" name="reason" value={one} checked={one === reason} onChange={() => setReason(one)} />
            <span>
              <strong>{t(`reason.${one}`)}</strong>
              <span class="dim">{t(`reason.${one}.about`)}</span>
            </span>
          </label>
        ))}
      </fieldset>
      {reason === "duplicate" ? (
        <TwinPicker memory={memory} value={twin} onPick={setTwin} />
      ) : (
        <label class="field">
          <span>{t(reason === "outdated" ? "correct.now" : "correct.better")}</span>
          <textarea rows={4} value={content} onInput={(event) => setContent(event.currentTarget.value)} />
        </label>
      )}
      <label class="field">
        <span>{t("correct.why")}</span>
        <input type="text" value={why} onInput={(event) => setWhy(event.currentTarget.value)} />
      </label>
      <footer>
        <Button onClick={onClose}>{t("cancel")}</Button>
        <Button look="main" icon="check" disabled={!isReady || busy} onClick={() => void save()}>
          {t("correct.save")}
        </Button>
      </footer>
    </Dialog>
  );
}

/** The memory that stays. The likeliest are offered; another is found by its words. */
function TwinPicker({ memory, value, onPick }: { memory: WholeMemory; value: string; onPick: (id: string) => void }) {
  const [query, setQuery] = useState("");
  const asked = useRested(query.trim() || memory.content.slice(0, 400), 200);
  const found = useLoad((signal) => call("search_memories", { query: { q: asked, limit: 8 }, signal }), [asked], { live: false });
  const hits = (found.data?.hits ?? []).filter((hit) => hit.id !== memory.id);
  return (
    <fieldset class="reasons">
      <legend>{t("correct.twin")}</legend>
      <input type="search" aria-label={t("correct.twin_search")} placeholder={t("correct.twin_search")} value={query} onInput={(event) => setQuery(event.currentTarget.value)} />
      {hits.length === 0 && !found.loading && <p class="dim">{t("correct.no_twin")}</p>}
      {hits.map((hit) => (
        <label key={hit.id} class={hit.id === value ? "choice on" : "choice"}>
          <input type="radio" name="twin" checked={hit.id === value} onChange={() => onPick(hit.id)} />
          <span>{hit.memory.content}</span>
        </label>
      ))}
    </fieldset>
  );
}
