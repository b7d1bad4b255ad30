"""Warnings before a call, on projects that had no say in the shares they are judged by.

    python benchmarks/gate.py [PACK …] [--shares] [--hook] [--jobs N]

For every project the shares of `observer.failure_priors` are counted anew on the others, then its sessions are lived
through as `learning.py` does, whose table this prints: goal and definitions are there. Beside it:

- calibration: how likely a warning said the failure was, and how often the warned call failed;
- ceiling: repeat errors whose call met any pattern that names them, however unlikely: no threshold finds more;
- time: of asking before a call, in a warm process.

`--shares` prints the table counted on all packs, which is the one that ships. `--hook` asks the way a hook process
does, over a real store, the row it reads and the session file it keeps, and counts where a warm session differs. Times
are processor time of the one thread, because the machine is shared.
"""

from __future__ import annotations

import argparse
import os
import sys
import tempfile
from collections import Counter
from collections.abc import Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from datetime import UTC, datetime
from pathlib import Path
from time import thread_time
from typing import Any

os.environ["RECOLLECT_EMBEDDER"] = "none"

from learning import gate_table, learn_session, warn_session
from traces import Session, pack_name, packs, read_pack

import recollect
from recollect import Recollect
from recollect.agent.hook import follow, foresee_failure
from recollect.files.session_file import SessionFile
from recollect.observer import failure_priors, policy
from recollect.observer.events import ToolCall, ToolResult, UserText
from recollect.observer.failure_patterns import SNAPSHOT_FILES_NAME, SNAPSHOT_NAME, match_patterns
from recollect.observer.features import with_folders
from recollect.observer.language import fingerprint
from recollect.observer.predictor import WHOLE, SessionPredictor
from recollect.store.sqlite.hook_file import open_hook_reader

Key = tuple[str, str, str]
Counts = Mapping[Key, tuple[int, int]]  # calls and failures by tool, sort and state
_SMOOTHING, _LEAST, _APART = 5, 20, 2.0  # calls of the mean; calls, and factor, from which a tool has its own row


# --- shares ----------------------------------------------------------------------------------------------------------


def count_pack(pack: Path) -> dict[Key, tuple[int, int]]:
    """How often calls failed in one project, by tool, sort and state."""
    known, lines = set[str](), set[tuple[str, str]]()
    calls, failures = Counter[Key](), Counter[Key]()
    for session in read_pack(pack):
        predictor = SessionPredictor(known=known, lines=lines)
        for event in session.events:
            predictor.see(event)
        for seen in predictor.features():
            if seen.sort == "file" and seen.times > len(seen.failed):
                known.update(with_folders(seen.what))
            for key in _keys(seen.tool, seen.sort, seen.what, seen.state):
                calls[key] += seen.times
                failures[key] += len(seen.failed)
    return {key: (calls[key], failures[key]) for key in calls}


def _keys(tool: str, sort: str, what: str, state: str) -> list[Key]:
    if sort == WHOLE:
        return [("", "", "")]
    if sort == "state":
        return [("", sort, what), (tool, sort, what)]
    return [] if sort in ("file", "line") else list(dict.fromkeys([("", sort, state), ("", sort, "")]))


def fit(counts: Sequence[Counts]) -> dict[Key, tuple[float, int, int]]:
    """The shares over some projects, each with its failures and calls."""
    calls, failures = Counter[Key](), Counter[Key]()
    for one in counts:
        for key, (times, failed) in one.items():
            calls[key] += times
            failures[key] += failed
    mean = failures["", "", ""] / calls["", "", ""]
    share = {
        key: max(0.001, round((failures[key] + _SMOOTHING * mean) / (n + _SMOOTHING), 3)) for key, n in calls.items()
    }
    kept = [
        key
        for key in sorted(share)
        if not key[0] or (calls[key] >= _LEAST and not 1 / _APART < share[key] / share["", key[1], key[2]] < _APART)
    ]
    return {key: (share[key], failures[key], calls[key]) for key in kept}


# --- one project -----------------------------------------------------------------------------------------------------


def run_pack(pack: Path, shares: Mapping[Key, float]) -> dict[str, Any]:
    """What would have been said before every call of a project, with shares that others gave."""
    failure_priors.PRIORS = failure_priors.Priors({**failure_priors.PRIORS.table, **shares})
    now, before = [datetime(2020, 1, 1, tzinfo=UTC)], Counter[tuple[str, str]]()
    out: dict[str, Any] = {"name": pack_name(pack), "gate": [], "warnings": [], "reachable": 0, "micros": []}
    with recollect.open(":memory:", project=out["name"], clock=lambda: now[0]) as memory:
        for session in read_pack(pack):
            out["reachable"] += _reachable(memory, session, before, out["micros"])
            gate, met = warn_session(memory, session, before, out["warnings"])
            out["gate"].append(gate)
            learn_session(memory, session, now, [0, 0, 0, 0])
            before.update(met)
    return out


def _reachable(memory: Recollect, session: Session, before: Counter[tuple[str, str]], micros: list[float]) -> int:
    """Repeat errors whose call meets a pattern that names them; and the time it takes to ask."""
    patterns, state = memory.observer.patterns(), memory.observer.feature_state()
    named: dict[str, tuple[str, set[str]]] = {}
    found = 0
    for event in session.events:
        if isinstance(event, ToolCall):
            start = thread_time()
            matches = match_patterns(event, patterns, feature_state=state, threshold=0.0)
            micros.append((thread_time() - start) * 1e6)
            named[event.call_id] = (event.tool, {mark for one in matches for mark in one.pattern.fingerprints})
        elif isinstance(event, ToolResult) and event.error and not event.rejected:
            tool, marks = named.get(event.call_id, ("", set()))
            mark = fingerprint(event.text).key
            found += before[tool, mark] >= policy.RECURRING_SESSIONS and mark in marks
        state.see(event)
    return found


def calibration_table(runs: Sequence[dict[str, Any]]) -> list[str]:
    lines = ["| a warning said | warnings | mean said | failed | projects |", "|---|---|---|---|---|"]
    given = [(run["name"], one) for run in runs for one in run["warnings"]]
    for low in (0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9):
        some = [(name, one) for name, one in given if low <= one["likelihood"] < low + 0.1 - 1e-9]
        if some:
            said = sum(one["likelihood"] for _, one in some) / len(some)
            failed = sum(one["failed"] for _, one in some)
            lines.append(
                f"| {low:.1f} … {low + 0.1:.1f} | {len(some)} | {said:.2f} | {failed / len(some):.2f} ({failed}) "
                f"| {len({name for name, _ in some})} |"
            )
    return lines


def ceiling_line(runs: Sequence[dict[str, Any]]) -> str:
    repeats = sum(gate["repeats 2"] for run in runs for gate in run["gate"])
    reachable = sum(run["reachable"] for run in runs)
    each = ", ".join(
        f"{run['name']} {run['reachable']} of {n}"
        for run in runs
        if (n := sum(one["repeats 2"] for one in run["gate"]))
    )
    return f"Ceiling: {reachable} of {repeats} repeat errors = {reachable / max(1, repeats):.0%} ({each})."


def time_line(runs: Sequence[dict[str, Any]]) -> str:
    micros = sorted(one for run in runs for one in run["micros"])
    return (
        f"Asking before a call: median {_at(micros, 0.5):.0f} µs, p99 {_at(micros, 0.99):.0f} µs (n={len(micros):,})."
    )


def _at(values: Sequence[float], share: float) -> float:
    return values[int(len(values) * share)] if values else 0.0


# --- the hook's way --------------------------------------------------------------------------------------------------


def run_hook(pack: Path) -> str:
    """Live through a project as its hook processes do, in this process."""
    count, asked, followed = Counter[str](), list[float](), list[float]()
    with tempfile.TemporaryDirectory() as folder, recollect.open(folder, create=True) as memory:
        for session in read_pack(pack):
            _hook_session(memory, session, count, asked, followed)
            learn_session(memory, session, [datetime(2020, 1, 1, tzinfo=UTC)], [0, 0, 0, 0])
        row, files = (len(memory.store.meta(name) or "") for name in (SNAPSHOT_NAME, SNAPSHOT_FILES_NAME))
    asked.sort()
    followed.sort()
    return (
        f"- {pack_name(pack)}: {count['calls']} calls, {count['warned']} warnings; a warm session would have said "
        f"something else at {count['differ']}; the row a hook reads holds {row:,} letters at the end, that of known "
        f"files {files:,}; to ask and follow before a call median {_at(asked, 0.5):.0f} µs, p99 {_at(asked, 0.99):.0f} "
        f"µs; to follow its answer median {_at(followed, 0.5):.0f} µs, p99 {_at(followed, 0.99):.0f} µs"
    )


def _hook_session(
    memory: Recollect, session: Session, count: Counter[str], asked: list[float], followed: list[float]
) -> None:
    assert memory.path is not None
    reader = open_hook_reader(str(memory.path), now=0)
    file = SessionFile.of(str(Path(memory.path).parent), session.id)
    state, calls = memory.observer.feature_state(), dict[str, ToolCall]()
    given, told = set[str](), set[str]()
    for number, event in enumerate(session.events):
        if isinstance(event, ToolCall):
            file.take_event(f"{number:016x}", "before", number, named=True)
            start = thread_time()
            match = foresee_failure(event, reader, file, now=number)
            follow("before", file, calls=(event,), answers=(("", False),))
            asked.append((thread_time() - start) * 1e6)
            warm = next(iter(memory.observer.warnings(event, feature_state=state, given=given, told=told)), None)
            if warm is not None:
                given.add(warm.pattern.id)
                told |= warm.pattern.fingerprints
            differ = (match and match.pattern.id) != (warm and warm.pattern.id)
            count.update({"calls": 1, "warned": int(match is not None), "differ": int(differ)})
            calls[event.call_id] = event
        elif isinstance(event, ToolResult):
            file.take_event(f"{number:016x}", "after", number, named=True)
            known = [calls[event.call_id]] if event.call_id in calls else []
            start = thread_time()
            follow("after", file, calls=known, answers=[(event.text, event.error or event.rejected)] * len(known))
            followed.append((thread_time() - start) * 1e6)
        elif isinstance(event, UserText):
            file.take_event(f"{number:016x}", "prompt", number, named=True)
            follow("prompt", file, prompt=event.text)
        state.see(event)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("packs", nargs="*", help="packs by name or path; all when none is given")
    parser.add_argument("--shares", action="store_true", help="print the shares of all packs, and nothing else")
    parser.add_argument("--hook", action="store_true", help="ask the way a hook process does, and nothing else")
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1)
    given = parser.parse_args()
    wanted, every = packs(given.packs), packs()
    with ProcessPoolExecutor(given.jobs) as pool:
        if given.hook:
            print(*pool.map(run_hook, wanted), sep="\n")
            return
        counts = dict(zip(every, pool.map(count_pack, every), strict=True))
        if given.shares:
            for key, (share, failed, calls) in fit(list(counts.values())).items():
                print(f"    {key!r}: {share},  # {failed} of {calls}".replace("'", '"'))
            return
        tables = []
        for pack in wanted:
            others = [one for other, one in counts.items() if other.name != pack.name]
            tables.append({key: share for key, (share, _, _) in fit(others).items()})
        runs = []
        for run in pool.map(run_pack, wanted, tables):
            print(run["name"], file=sys.stderr, flush=True)
            runs.append(run)
    print("## Warnings before a call, shares counted on the other projects\n", *gate_table(runs), sep="\n")
    print("\n### Calibration\n", *calibration_table(runs), "", ceiling_line(runs), time_line(runs), sep="\n")


if __name__ == "__main__":
    main()
