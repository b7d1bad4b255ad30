"""Does what Recollect learns from agents help on projects it has never seen? Per project, floors beside.

    python benchmarks/learning.py [PACK …] [--part files,gate,promotion,commands,said] [--out FOLDER] [--jobs N]

Every session is predicted with what the sessions before it taught, then learnt: events are read, `observer.foresee`
and `observer.warnings` are asked the way a live session asks them, then `watch` and `finish`. The store is in memory,
with no embedder, no model and no review; its clock is the end of the session that was learnt last.

- Files: recall@10, from the first request, of the touched files that an earlier session had touched; sessions that
  touched none of those are left out. `with branch` also hands over the branch, which a live session does not have. The
  floors are given the true lists of files. `seen` is the share of the truly touched files of all sessions that the
  observer saw as changed in that session, `seen rightly` the share of the files seen as changed that are touched or
  in the session's checkpoint.
- Warnings: an error is a failed result that nobody refused; a repeat had its tool and fingerprint in two earlier
  sessions. Foreseen means: the warning given at the very call that failed names that fingerprint. The lift is the share
  of warned calls that failed over the share of all calls that failed.
- Said: standing rules and corrections in what people say, on the labelled set `said.jsonl` (see `said.py`).
- Commands: from the sixth session on, for each of test, lint and build a session had a success of: is the command that
  went well last in that session (its name, without files, flags and values) among the three told before it began? The
  floors tell the three run most often and the three that went well most recently.
- Promotion: memories at the end; shown is what would be told unasked, without anybody's review, at a level of trust.

Intervals are bootstraps over sessions (inside every project for a mean of projects). A mean of projects counts those
with five sessions or errors.
"""

from __future__ import annotations

import argparse
import json
import math
import os
import random
import sys
import time
from collections import Counter
from collections.abc import Sequence
from concurrent.futures import ProcessPoolExecutor
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

os.environ["RECOLLECT_EMBEDDER"] = "none"

from said import said_table
from traces import FLOORS, LEAST, Floors, K, Session, interval, mean, pack_name, packs, read_pack, resampled, shown

import recollect
from recollect import Filter, Memory, Recollect, Status
from recollect.agent.injection import BEFORE, SYSTEM_PROMPT, TELLABLE_KINDS, find_objection
from recollect.agent.recall_search import summarize
from recollect.core.observed import SignalSeen
from recollect.observer.commands import CommandRecorder, command_of
from recollect.observer.events import Event, ToolCall, ToolResult
from recollect.observer.language import fingerprint

LEVELS = ("cautious", "standard")
_EARLIER = 2  # sessions in which an error was met before it counts as a repeat
_RATES = ("product", "branch", *FLOORS)
_TOLD = 3  # commands of one purpose
_TELLERS = ("product", "with folder", "frequent", "recent")


# --- one pack --------------------------------------------------------------------------------------------------------


def run_pack(pack: Path) -> dict[str, Any]:
    """Everything that one project shows."""
    name, spent = pack_name(pack), time.process_time()
    floors, before, ran = Floors(), Counter[tuple[str, str]](), RanCommands()
    out: dict[str, Any] = {"name": name, "files": [], "gate": [], "warnings": [], "learnt": [], "commands": []}
    out["saw"] = [0, 0, 0, 0]
    now = [datetime(2020, 1, 1, tzinfo=UTC)]
    with recollect.open(":memory:", project=name, clock=lambda: now[0]) as memory:
        for session in read_pack(pack):
            known = [file for file in session.touched if file in floors.known]
            if known:
                out["files"].append(_foresee(memory, session, floors, known))
            out["commands"] += _tell_commands(memory, session, ran)
            gate, met = warn_session(memory, session, before, out["warnings"])
            out["gate"].append(gate)
            out["learnt"].append(learn_session(memory, session, now, out["saw"]))
            before.update(met)
            floors.learn(session.prompt, session.touched)
        every = memory.list(Filter(statuses=frozenset(Status)), limit=100_000).memories
    order = {one["session"]: place for place, one in enumerate(out["learnt"])}
    out["memories"] = sorted(map(_described, every), key=lambda one: (order.get(one["session"], -1), one["content"]))
    out["cpu"] = round(time.process_time() - spent, 1)
    return out


def _foresee(memory: Recollect, session: Session, floors: Floors, known: list[str]) -> dict[str, Any]:
    guesses = {
        **floors.guess(session.prompt),
        "product": [one.path for one in memory.observer.foresee(session.prompt, k=K)],
        "branch": [one.path for one in memory.observer.foresee(session.prompt, k=K, branch=session.branch)],
    }
    return {
        "session": session.id, "place": session.place, "known": len(known),
        **{who: len(set(files) & set(known)) / len(known) for who, files in guesses.items()},
    }  # fmt: skip


def warn_session(
    memory: Recollect, session: Session, before: Counter[tuple[str, str]], warnings: list[dict[str, Any]]
) -> tuple[Counter[str], set[tuple[str, str]]]:
    """What would have been said before every call, and what came of the call. The store does not change meanwhile."""
    failed = _failed(session.events)
    tools = {one.call_id: one.tool for one in session.events if isinstance(one, ToolCall)}
    state, count = memory.observer.feature_state(), Counter[str]()
    given: set[str] = set()
    told: set[str] = set()
    named: dict[str, frozenset[str]] = {}
    met: set[tuple[str, str]] = set()
    for event in session.events:
        if isinstance(event, ToolCall):
            count["calls"] += 1
            count["failed"] += event.call_id in failed
            for match in memory.observer.warnings(event, feature_state=state, given=given, told=told)[:1]:
                given.add(match.pattern.id)
                told |= match.pattern.fingerprints
                named[event.call_id] = match.pattern.fingerprints
                so = event.call_id in failed and fingerprint(failed[event.call_id]).key in match.pattern.fingerprints
                count.update({"warned": 1, "warned failed": int(event.call_id in failed), "warned so": int(so)})
                warnings.append({
                    "session": session.id, "tool": event.tool, "call": (event.subject or " ".join(event.paths))[:160],
                    "likelihood": round(match.likelihood, 3), "failed": event.call_id in failed, "so": so,
                })  # fmt: skip
        elif isinstance(event, ToolResult) and event.error and not event.rejected:
            error = (tools.get(event.call_id, ""), fingerprint(event.text).key)
            foreseen = error[1] in named.get(event.call_id, ())
            count["errors"] += 1
            for least in (1, _EARLIER):
                if before[error] >= least:
                    count.update({f"repeats {least}": 1, f"foreseen {least}": int(foreseen)})
            met.add(error)
        state.see(event)
    return count, met


def _failed(events: Sequence[Event]) -> dict[str, str]:
    failed: dict[str, str] = {}
    for event in events:
        if isinstance(event, ToolResult) and event.error and not event.rejected:
            failed.setdefault(event.call_id, event.text)
    return failed


def learn_session(memory: Recollect, session: Session, now: list[datetime], saw: list[int]) -> dict[str, Any]:
    watch = memory.observer.watch(session.id, host=session.host)
    for event in session.events:
        watch.feed(event)
    changed = {file.path for file in watch.contribution().files if file.edits}
    saw[0] += len(changed & set(session.touched))
    saw[1] += len(session.touched)
    saw[2] += len(changed & {*session.touched, *(session.row["files_checkpoint"] or ())})
    saw[3] += len(changed)
    now[0] = max(now[0], session.ended)
    learned = memory.observer.finish(watch)
    return {"session": session.id, "added": len(learned.added), "left_out": dict(learned.left_out)}


class RanCommands:
    """What earlier sessions ran, for the floors."""

    def __init__(self) -> None:
        self.times: dict[str, Counter[str]] = {}
        self.recent: dict[str, list[str]] = {}

    def learn(self, ran: Sequence[SignalSeen]) -> None:
        for one in sorted(ran, key=lambda one: max(one.steps, default=-1)):
            _, name = command_of(one)
            self.times.setdefault(one.hunch, Counter())[name] += one.count + int(one.measure)
            if one.count:
                late = self.recent.setdefault(one.hunch, [])
                late[:] = [name, *(other for other in late if other != name)]


def _tell_commands(memory: Recollect, session: Session, earlier: RanCommands) -> list[dict[str, Any]]:
    """For each purpose, whether the command that went well last was told before the session began."""
    recorder = CommandRecorder()
    for event in session.events:
        if isinstance(event, ToolCall):
            recorder.called(event)
        elif isinstance(event, ToolResult):
            recorder.answered(event)
    ran, rows = recorder.signals(), []
    for purpose in ("test", "lint", "build") if session.place >= LEAST else ():
        well = [one for one in ran if one.hunch == purpose and one.count]
        if well:
            last = max(well, key=lambda one: max(one.steps))
            folder, name = command_of(last)
            often = [one for one, _ in earlier.times.get(purpose, Counter()).most_common(_TOLD)]
            told = memory.observer.commands(purpose, k=_TOLD)
            rows.append({
                "purpose": purpose, "session": session.id, "command": name, "frequent": name in often,
                "product": name in [one.name for one in told],
                "with folder": (name, folder) in [(one.name, one.folder) for one in told],
                "recent": name in earlier.recent.get(purpose, [])[:_TOLD],
            })  # fmt: skip
    earlier.learn(ran)
    return rows


def _described(memory: Memory) -> dict[str, Any]:
    summary = summarize(memory, confidence=memory.confidence)
    objections = {
        level: find_objection(summary, SYSTEM_PROMPT, level=level, given=())
        if memory.kind in TELLABLE_KINDS
        else "its kind is not told"
        for level in LEVELS
    }
    return {
        "id": memory.id, "kind": str(memory.kind), "status": str(memory.status), "content": memory.content,
        "signal": memory.attributes.get("signal"), "tainted": bool(memory.attributes.get("tainted")),
        "confidence": memory.confidence, "seen": len(memory.provenance), "session": memory.session,
        "source": str(memory.source), "files": list(memory.files), "objections": objections,
        "interrupts": not find_objection(summary, BEFORE, level="standard", given=()),
    }  # fmt: skip


# --- figures ---------------------------------------------------------------------------------------------------------


def file_figures(run: dict[str, Any]) -> dict[str, Any]:
    """The rates of one project, its best floor, and how far the product is above it."""
    rows = run["files"]
    rates = {who: mean(row[who] for row in rows) for who in _RATES}
    best = max(FLOORS, key=lambda floor: rates[floor]) if rows else ""
    gaps = [row["product"] - row[best] for row in rows]
    return {"n": len(rows), "best": best, "gaps": gaps, "gap": mean(gaps), **rates}


def files_table(runs: Sequence[dict[str, Any]]) -> list[str]:
    lines = [
        f"| project | n | product | with branch | {' | '.join(FLOORS.values())} | − best floor | 95 % | seen "
        "| seen rightly |",
        "|---|" + "---|" * (len(FLOORS) + 7),
    ]
    every = [(run, file_figures(run)) for run in runs]
    for run, found in every:
        low, high = _gap_interval([found["gaps"]])
        rates = " | ".join(shown(found[who]) for who in _RATES)
        seen = shown(run["saw"][0] / run["saw"][1] if run["saw"][1] else math.nan, ".0%")
        lines.append(
            f"| {run['name']} | {found['n']} | {rates} | {shown(found['gap'], '+.3f')} ({found['best']}) "
            f"| {low:+.3f} … {high:+.3f} | {seen} | {shown(_rightly(run), '.0%')} |"
        )
    counted = [(run, found) for run, found in every if found["n"] >= LEAST]
    if counted:
        rates = " | ".join(shown(mean(found[who] for _, found in counted)) for who in _RATES)
        low, high = _gap_interval([found["gaps"] for _, found in counted])
        worst = min(counted, key=lambda one: one[1]["gap"])
        seen = shown(mean(run["saw"][0] / run["saw"][1] for run, _ in counted), ".0%")
        lines.append(
            f"| **mean of {len(counted)} projects** | {sum(found['n'] for _, found in counted)} | {rates} "
            f"| {mean(found['gap'] for _, found in counted):+.3f} (each its best) | {low:+.3f} … {high:+.3f} "
            f"| {seen} | {shown(mean(_rightly(run) for run, _ in counted), '.0%')} |"
        )
        lines += ["", f"Worst against its best floor: {worst[0]['name']}, {worst[1]['gap']:+.3f}."]
    return lines


def _rightly(run: dict[str, Any]) -> float:
    """The share of the files seen as changed that the session touched, or that its checkpoint has."""
    return run["saw"][2] / run["saw"][3] if run["saw"][3] else math.nan


def _gap_interval(gaps: Sequence[Sequence[float]]) -> tuple[float, float]:
    """Of the mean of the projects' means."""
    if not all(gaps):
        return math.nan, math.nan
    return interval(lambda rng: mean(resampled(one, rng) for one in gaps))


def gate_figures(gates: Sequence[dict[str, int]]) -> dict[str, float]:
    """The warnings of one project, or of several."""
    count: Counter[str] = Counter()
    for one in gates:
        count.update(one)

    def share(part: str, whole: str) -> float:
        return count[part] / count[whole] if count[whole] else math.nan

    warned, every = share("warned failed", "warned"), share("failed", "calls")
    return {
        **{key: count[key] for key in ("calls", "errors", "warned", "warned failed", "warned so", "repeats 1",
                                       "repeats 2", "foreseen 1", "foreseen 2")},
        "foreseen": share("foreseen 2", "repeats 2"), "per hundred": 100 * share("warned", "calls"),
        "warned share": warned, "all share": every, "lift": warned / every if every else math.nan,
    }  # fmt: skip


def gate_table(runs: Sequence[dict[str, Any]]) -> list[str]:
    lines = [
        "| project | calls | errors | repeats (2+ sessions) | foreseen at that call | warnings / 100 calls | "
        "warned calls that failed | as warned | all calls that failed | lift |",
        "|---|---|---|---|---|---|---|---|---|---|",
    ]

    def row(label: str, found: dict[str, float], lift: str) -> str:
        return (
            f"| {label} | {found['calls']:.0f} | {found['errors']:.0f} | {found['repeats 2']:.0f} "
            f"| {shown(found['foreseen'], '.1%')} ({found['foreseen 2']:.0f}) | {shown(found['per hundred'], '.2f')} "
            f"| {shown(found['warned share'], '.1%')} ({found['warned failed']:.0f}/{found['warned']:.0f}) "
            f"| {found['warned so']:.0f} | {shown(found['all share'], '.1%')} | {lift} |"
        )

    every = [(run, gate_figures(run["gate"])) for run in runs]
    lines += [row(run["name"], found, shown(found["lift"], ".2f")) for run, found in every]
    pooled = gate_figures([one for run in runs for one in run["gate"]])
    low, high = interval(lambda rng: _pooled_lift(runs, rng), draws=1_000)
    lines.append(row("**pooled**", pooled, f"{shown(pooled['lift'], '.2f')} ({low:.1f} … {high:.1f})"))
    some = [found["foreseen"] for _, found in every if found["repeats 2"] >= LEAST]
    lifts = [found["lift"] for _, found in every if found["warned"] >= LEAST]
    lines.append(
        f"| **mean of projects** | | | | {shown(mean(some), '.1%')} ({len(some)} projects) "
        f"| {mean(found['per hundred'] for _, found in every):.2f} | | | | {shown(mean(lifts), '.2f')} ({len(lifts)}) |"
    )
    return lines


def _pooled_lift(runs: Sequence[dict[str, Any]], rng: random.Random) -> float:
    chosen = [run["gate"][int(rng.random() * len(run["gate"]))] for run in runs for _ in run["gate"]]
    lift = gate_figures(chosen)["lift"]
    return 0.0 if math.isnan(lift) else lift


def promotion_table(runs: Sequence[dict[str, Any]]) -> list[str]:
    kinds = [kind for kind, _ in Counter(one["kind"] for run in runs for one in run["memories"]).most_common()]
    lines = [
        f"| project | sessions | memories | a session | {' | '.join(kinds)} | active | shown: cautious | standard "
        "| tainted |",
        "|" + "---|" * (8 + len(kinds)),
    ]

    def row(label: str, sessions: int, found: Sequence[dict[str, Any]]) -> str:
        count = Counter(one["kind"] for one in found)
        shown_at = " | ".join(str(sum(not one["objections"][level] for one in found)) for level in LEVELS)
        return (
            f"| {label} | {sessions} | {len(found)} | {len(found) / max(1, sessions):.2f} "
            f"| {' | '.join(str(count[kind]) for kind in kinds)} | {sum(one['status'] == 'active' for one in found)} "
            f"| {shown_at} | {sum(one['tainted'] for one in found)} |"
        )

    lines += [row(run["name"], len(run["learnt"]), run["memories"]) for run in runs]
    lines.append(
        row("**all**", sum(len(run["learnt"]) for run in runs), [one for run in runs for one in run["memories"]])
    )
    signals = Counter(str(one["signal"]) for run in runs for one in run["memories"])
    return [*lines, "", "By signal: " + ", ".join(f"{signal} {n}" for signal, n in signals.most_common())]


def commands_table(runs: Sequence[dict[str, Any]]) -> list[str]:
    lines = [
        "| project | n | told | with its folder | most frequent | most recent success |",
        "|---|---|---|---|---|---|",
    ]
    every = [(run["name"], run["commands"]) for run in runs]
    rates = {name: [mean(row[who] for row in rows) for who in _TELLERS] for name, rows in every}
    lines += [f"| {name} | {len(rows)} | {' | '.join(shown(one) for one in rates[name])} |" for name, rows in every]
    counted = [(name, rows) for name, rows in every if len(rows) >= LEAST]
    if counted:
        means = [mean(rates[name][place] for name, _ in counted) for place in range(len(_TELLERS))]
        low, high = interval(lambda rng: mean(resampled([row["product"] for row in rows], rng) for _, rows in counted))
        lines.append(
            f"| **mean of {len(counted)} projects** | {sum(len(rows) for _, rows in counted)} "
            f"| {' | '.join(shown(one) for one in means)} |"
        )
        lines += ["", f"95 % of the mean: {low:.3f} … {high:.3f}."]
    return lines


PARTS = {
    "files": ("Files foreseen from the first request (recall@10)", files_table),
    "gate": ("Warnings before a call", gate_table),
    "promotion": ("What becomes a memory", promotion_table),
    "commands": ("Commands told before they are needed (top 3)", commands_table),
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("packs", nargs="*", help="packs by name or path; all when none is given")
    parser.add_argument("--part", default=",".join((*PARTS, "said")))
    parser.add_argument("--out", type=Path, help="a folder that takes every project's figures as JSON")
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1)
    given = parser.parse_args()
    parts = given.part.split(",")
    runs = []
    with ProcessPoolExecutor(given.jobs) as pool:
        for run in pool.map(run_pack, packs(given.packs) if set(parts) & PARTS.keys() else ()):
            print(f"{run['name']}: {len(run['learnt'])} sessions, {run['cpu']} s CPU", file=sys.stderr, flush=True)
            runs.append(run)
            if given.out:
                given.out.mkdir(parents=True, exist_ok=True)
                (given.out / f"{run['name']}.json").write_text(json.dumps(run, ensure_ascii=False, indent=1))
    for part in parts:
        if part == "said":
            print("\n## What people say\n", *said_table(given.packs), sep="\n")
            continue
        title, table = PARTS[part]
        print(f"\n## {title}\n", *table(runs), sep="\n")


if __name__ == "__main__":
    main()
