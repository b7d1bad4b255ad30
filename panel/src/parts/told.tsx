/** What an agent was told unasked. */
import type { ToldShape } from "../api";
import { named, t } from "../words";
import { Badge, StatusBadge, When } from "./basic";

/** Memories that were told, each with its moment and what became of it since. */
export function ToldList({ told }: { told: ToldShape[] }) {
  return (
    <ul class="plain-list spaced">
      {told.map((one, at) => (
        <li key={at}>
          {one.id ? <a class="clamped" href={`/memories/${encodeURIComponent(one.id)}`}>{one.content || one.id}</a> : <span class="clamped">{one.content}</span>}
          <span class="row-meta">
            <span>{t("sessions.told_at", { moment: named("moment", one.moment) })}</span>
            {one.status && one.status !== "active" && <StatusBadge status={one.status} />}
            {one.touched && one.touched.length > 0 && <Badge tone="good">{t("told.touched", { files: one.touched.slice(0, 2).join(", ") })}</Badge>}
            {one.touched?.length === 0 && one.id && <span>{t("told.untouched")}</span>}
            <When at={one.at} />
          </span>
        </li>
      ))}
    </ul>
  );
}
