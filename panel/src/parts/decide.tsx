/** Deciding about what waits for a person: in the queue, and at the end of a session. */
import { useState } from "preact/hooks";
import { attempt } from "../acts";
import type { Decision, ReviewItemShape } from "../api";
import { asProblem, call } from "../client";
import { tell } from "../state";
import { t } from "../words";
import { Button } from "./basic";
import { Dialog } from "./dialog";

export type Choice = Decision["decision"];

const made: string[] = []; // the decisions of this visit, by their acts

/** Decide about one item as it was shown: a memory that changed since is not decided. True when it was done. */
export function decideItem(item: ReviewItemShape, decision: Choice, content?: string): Promise<boolean> {
  return attempt(async () => {
    const { act } = await call("decide_review", { path: { id: item.id }, body: { decision, content: content ?? null, seen: item.revisions } });
    made.push(act);
    tell(t(`decided.${decision}`), { undo: () => void takeBack(act) });
  });
}

/** Take back one decision, the last of this visit unless one is named: exactly that one, whatever was done elsewhere. */
export async function takeBack(act: string | undefined = made.at(-1)): Promise<void> {
  if (act === undefined) return tell(t("review.nothing_to_undo"));
  await attempt(async () => {
    try {
      await call("undo_change", { body: { act } });
      tell(t("did.undo"));
    } catch (error) {
      if (asProblem(error).code !== "already-undone") throw error;
      tell(t("review.already_undone"));
    }
    if (made.includes(act)) made.splice(made.indexOf(act), 1);
  });
}

/** Better words for a candidate, which then count as the person's own. */
export function Rewrite({ item, onSave, onClose }: { item: ReviewItemShape; onSave: (content: string) => void; onClose: () => void }) {
  const [content, setContent] = useState(item.memory.content);
  const isChanged = content.trim() !== "" && content.trim() !== item.memory.content;
  return (
    <Dialog title={t("review.rewrite")} onClose={onClose} wide>
      <form
        onSubmit={(event) => {
          event.preventDefault();
          if (isChanged) onSave(content.trim());
        }}
      >
        <label class="field">
          <span>{t("correct.better")}</span>
          <textarea
            rows={5}
            value={content}
            onInput={(event) => setContent(event.currentTarget.value)}
            onKeyDown={(event) => {
              if (event.key === "Enter" && (event.ctrlKey || event.metaKey) && isChanged) onSave(content.trim());
            }}
          />
        </label>
        <p class="dim">{t("review.rewrite_about")}</p>
        <footer>
          <Button onClick={onClose}>{t("cancel")}</Button>
          <Button look="main" type="submit" icon="check" disabled={!isChanged}>
            {t("review.rewrite_save")}
          </Button>
        </footer>
      </form>
    </Dialog>
  );
}
