/** A modal dialog: the browser keeps the focus inside, and Escape closes it. */
import type { ComponentChildren } from "preact";
import { useEffect, useRef } from "preact/hooks";
import { t } from "../words";
import { Button } from "./basic";

type Props = { title: string; onClose: () => void; children: ComponentChildren; wide?: boolean; side?: boolean };

export function Dialog({ title, onClose, children, wide, side }: Props) {
  const own = useRef<HTMLDialogElement>(null);
  const before = useRef<Element | null>(null);
  useEffect(() => {
    before.current = document.activeElement;
    own.current?.showModal();
    return () => (before.current as HTMLElement | null)?.focus?.();
  }, []);
  return (
    <dialog
      ref={own}
      class={[wide ? "wide" : "", side ? "side" : ""].join(" ")}
      aria-label={title}
      onCancel={(event) => {
        event.preventDefault();
        onClose();
      }}
      onClick={(event) => {
        if (event.target === own.current) onClose();
      }}
    >
      <div class="dialog-inside">
        <header>
          <h2>{title}</h2>
          <Button icon="cross" look="quiet" label={t("close")} onClick={onClose} />
        </header>
        {children}
      </div>
    </dialog>
  );
}
