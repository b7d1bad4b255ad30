/** What just happened, and the way back. */
import { dismiss, holdToasts, toasts } from "../state";
import { t } from "../words";
import { Button } from "./basic";

export function Toasts() {
  return (
    <div
      class="toasts"
      role="status"
      aria-live="polite"
      onPointerEnter={() => holdToasts(true)}
      onPointerLeave={() => holdToasts(false)}
      onFocusIn={() => holdToasts(true)}
      onFocusOut={() => holdToasts(false)}
    >
      {toasts.value.map((toast) => (
        <div key={toast.id} class={toast.bad ? "toast bad" : "toast"}>
          <span>{toast.text}</span>
          {toast.undo && (
            <Button
              small
              icon="undo"
              onClick={() => {
                dismiss(toast.id);
                toast.undo?.();
              }}
            >
              {t("undo")}
            </Button>
          )}
          <Button small look="quiet" icon="cross" label={t("dismiss")} onClick={() => dismiss(toast.id)} />
        </div>
      ))}
    </div>
  );
}
