"""The observer on real sessions: how often each signal fires, how many errors are repeats, what an event costs.

The traces are read from ../shared/data beside the checkout and never committed. Sessions are taken in time order; an
error is a repeat when its tool and fingerprint were seen in at least so many earlier sessions of the same codebase.
Calls that a person refused, or that were dropped because another failed, are no errors. The fingerprint is coarse on
purpose, so the share of repeats is an upper reading: the shape came back, which does not say that one remedy fits.
"""

from __future__ import annotations

import argparse
import gzip
from collections import Counter, defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from time import perf_counter

from sets import DATA

from recollect.observer.events import Event, ToolCall, ToolResult
from recollect.observer.fingerprint import fingerprint
from recollect.observer.pad import Pad
from recollect.observer.readers import sniff
from recollect.observer.readers.lines import Tally
from recollect.observer.signals import DETECTORS

SETS = ("entireio_cli", "context_evaluator")
EARLIER = 2  # sessions an error must have been seen in before to be a repeat
RESULTS = Path(__file__).parent / "results" / "observer.md"


@dataclass
class Run:
    """What one trace set showed."""

    tally: Tally = field(default_factory=Tally)
    calls: int = 0
    errors: int = 0
    repeats: int = 0
    seen_before: int = 0
    tainted: int = 0
    signals: Counter[str] = field(default_factory=Counter)
    sessions_with: Counter[str] = field(default_factory=Counter)
    times: list[float] = field(default_factory=list)
    troubles: int = 0
    slow: int = 0
    heaviest: int = 0
    sessions: int = 0
    finding: list[float] = field(default_factory=list)


def sessions(name: str, tally: Tally) -> Iterator[list[Event]]:
    """The sessions of a set, the one that began first leading."""
    grouped: dict[str, list[Event]] = defaultdict(list)
    with gzip.open(DATA / "traces" / f"{name}.events.jsonl.gz", "rt", encoding="utf-8") as lines:
        for event in sniff.read(lines, tally=tally):
            grouped[event.session].append(event)
    began = {session: min(event.at for event in events if event.at is not None) for session, events in grouped.items()}
    for session in sorted(grouped, key=lambda one: (began[one], one)):
        yield grouped[session]


def measure(name: str) -> Run:
    run = Run()
    known: dict[str, int] = Counter()
    for events in sessions(name, run.tally):
        run.sessions += 1
        _watch(run, events)
        tools: dict[str, str] = {}
        here: set[str] = set()
        for event in events:
            if isinstance(event, ToolCall):
                run.calls += 1
                tools[event.call] = event.tool
            elif isinstance(event, ToolResult) and event.error and not event.rejected:
                key = f"{tools.get(event.call)}: {fingerprint(event.text).key}"
                run.errors += 1
                run.repeats += known[key] >= EARLIER
                run.seen_before += known[key] >= 1
                here.add(key)
        for key in here:
            known[key] += 1
    return run


def _watch(run: Run, events: list[Event]) -> None:
    pad = Pad(events[0].session)
    for event in events:
        start = perf_counter()
        pad.feed(event)
        run.times.append(perf_counter() - start)
    start = perf_counter()
    found = pad.signals()
    run.finding.append(perf_counter() - start)
    run.signals.update(one.name for one in found)
    run.sessions_with.update({one.name for one in found})
    run.tainted += sum(one.tainted for one in found)
    run.troubles += pad.counts.troubles.total()
    run.slow += pad.counts.slow
    run.heaviest = max(run.heaviest, pad.weight())


def report(name: str, run: Run) -> str:
    times = sorted(run.times)
    total = sum(run.signals.values())
    lines = [
        f"## {name}",
        "",
        f"- {run.sessions} sessions, {run.tally.lines} lines, {len(times)} events, {run.calls} tool calls; "
        f"{run.tally.broken} broken lines, {run.tally.unknown.total()} unknown, {run.troubles} detector failures",
        f"- tool errors {run.errors}; seen in {EARLIER}+ earlier sessions {run.repeats} = "
        f"{run.repeats / max(1, run.errors):.1%}; in 1+ {run.seen_before} = {run.seen_before / max(1, run.errors):.1%}",
        f"- signals {total} = {total / max(1, run.sessions):.1f} a session; tainted {run.tainted} = "
        f"{run.tainted / max(1, total):.1%}",
        f"- an event: median {times[len(times) // 2] * 1e6:.0f} µs, p99 {times[int(len(times) * 0.99)] * 1e6:.0f} µs, "
        f"slowest {times[-1] * 1e3:.1f} ms; over 2 ms {run.slow} = {run.slow / len(times):.2%}; "
        f"{len(times) / sum(times):,.0f} events/s; finding at the end at most {max(run.finding) * 1e3:.1f} ms; "
        f"heaviest pad {run.heaviest / 1e6:.2f} MB",
        "",
        "| signal | found | a session | sessions with it |",
        "|---|---|---|---|",
    ]
    for detector in DETECTORS:
        found, share = run.signals[detector.name], run.sessions_with[detector.name] / max(1, run.sessions)
        lines.append(f"| {detector.name} | {found} | {found / max(1, run.sessions):.2f} | {share:.0%} |")
    return "\n".join(lines)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--sets", nargs="+", default=list(SETS), choices=SETS)
    parser.add_argument("--write", action="store_true", help="write the results page")
    asked = parser.parse_args()
    if not (DATA / "traces").is_dir():
        print("The traces are not beside this checkout (../shared/data/traces); nothing to measure.")
        return
    parts = [report(name, measure(name)) for name in asked.sets]
    page = (
        f"# The observer on real sessions\n\n{(__doc__ or '').strip()}\n\n    python benchmarks/observer.py --write\n\n"
        + "\n\n".join(parts)
        + "\n"
    )
    print(page)
    if asked.write:
        RESULTS.write_text(page, encoding="utf-8")


if __name__ == "__main__":
    main()
