"""What the observer costs on real sessions, and how often each signal fires.

Packs are those of `learning.py`, which says what comes of it. Times are processor time of the one thread, because the
machine is shared.
"""

from __future__ import annotations

import argparse
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path
from time import thread_time

from traces import pack_name, packs, read_pack

from recollect.observer.collector import SignalCollector
from recollect.observer.events import Event
from recollect.observer.predictor import SessionPredictor
from recollect.observer.readers.base import ReadingTally
from recollect.observer.signals import DETECTORS

RESULTS = Path(__file__).parent / "results" / "observer.md"


@dataclass
class Run:
    """What one trace set showed."""

    tally: ReadingTally = field(default_factory=ReadingTally)
    tainted: int = 0
    signals: Counter[str] = field(default_factory=Counter)
    sessions_with: Counter[str] = field(default_factory=Counter)
    times: list[float] = field(default_factory=list)
    troubles: int = 0
    slow: int = 0
    heaviest: int = 0
    sessions: int = 0
    finding: list[float] = field(default_factory=list)
    predictor: list[float] = field(default_factory=list)


def measure(pack: Path) -> Run:
    run = Run()
    for session in read_pack(pack):
        session.tally = run.tally
        run.sessions += 1
        if session.events:
            _watch(run, session.events)
    return run


def _watch(run: Run, events: list[Event]) -> None:
    collector, predictor = SignalCollector(events[0].session, clock=thread_time), SessionPredictor()
    for event in events:
        start = thread_time()
        collector.feed(event)
        fed = thread_time()
        predictor.see(event)
        run.times.append(fed - start)
        run.predictor.append(thread_time() - fed)
    start = thread_time()
    found = collector.signals()
    run.finding.append(thread_time() - start)
    run.signals.update(one.name for one in found)
    run.sessions_with.update({one.name for one in found})
    run.tainted += sum(one.tainted for one in found)
    run.troubles += collector.counts.troubles.total()
    run.slow += collector.counts.slow
    run.heaviest = max(run.heaviest, collector.weight())


def report(name: str, run: Run) -> str:
    times, predictor = sorted(run.times), sorted(run.predictor)
    both = sorted(collector + other for collector, other in zip(run.times, run.predictor, strict=True))
    total = sum(run.signals.values())
    lines = [
        f"## {name}",
        "",
        f"- {run.sessions} sessions, {run.tally.lines} lines, {len(times)} events; "
        f"{run.tally.broken} broken lines, {run.tally.unknown.total()} unknown, {run.troubles} detector failures",
        f"- signals {total} = {total / max(1, run.sessions):.1f} a session; tainted {run.tainted} = "
        f"{run.tainted / max(1, total):.1%}",
        f"- an event: median {times[len(times) // 2] * 1e6:.0f} µs, p99 {times[int(len(times) * 0.99)] * 1e6:.0f} µs, "
        f"slowest {times[-1] * 1e3:.1f} ms; over 2 ms {run.slow} = {run.slow / len(times):.2%}; "
        f"{len(times) / sum(times):,.0f} events/s; finding at the end at most {max(run.finding) * 1e3:.1f} ms; "
        f"heaviest collector {run.heaviest / 1e6:.2f} MB",
        f"- the predictor for what is foreseen costs another {predictor[len(times) // 2] * 1e6:.0f} µs an event, "
        f"p99 {predictor[int(len(times) * 0.99)] * 1e6:.0f} µs; both together p99 "
        f"{both[int(len(times) * 0.99)] * 1e6:.0f} µs",
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
    parser.add_argument("packs", nargs="*", help="packs by name or path; all when none is given")
    parser.add_argument("--write", action="store_true", help="write the results page")
    given = parser.parse_args()
    parts = [report(pack_name(pack), measure(pack)) for pack in packs(given.packs)]
    page = (
        f"# The observer on real sessions\n\n{(__doc__ or '').strip()}\n\n    python benchmarks/observer.py --write\n\n"
        + "\n\n".join(parts)
        + "\n"
    )
    print(page)
    if given.write:
        RESULTS.write_text(page, encoding="utf-8")


if __name__ == "__main__":
    main()
