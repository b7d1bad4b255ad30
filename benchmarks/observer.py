"""The observer on real sessions: what it foresees, how often each signal fires, what an event costs.

The traces are read from ../shared/data beside the checkout and never committed. Sessions are taken in time order; an
error is a repeat when its tool and fingerprint were seen in at least so many earlier sessions of the same codebase.
Calls that a person refused, or that were dropped because another failed, are no errors. The fingerprint is coarse on
purpose, so the share of repeats is an upper reading: the shape came back, which does not say that one remedy fits.

Files: from the first request of a session, recall@10 of the files it touched among those that an earlier session had
touched (a file nobody has ever touched cannot be learnt from sessions); sessions that touched none of those are left
out. Both floors are computed in the same run on the same sessions. The observer learns from what it saw agents edit
and read, the floors are given the true lists. Weights were chosen on the first half of both sets.

Repeated errors: before every call the gate asks whether calls like it failed in earlier sessions. "At that call"
counts an error whose pattern was put before the agent at the very call that failed; "by then" also counts those
of which the session had been warned earlier, since the same pattern is never told twice. A fixed bar warns at that
likelihood; a budget chooses the bar on the last 40 sessions, before each session, knowing nothing of it or later ones.

By the hook process: the same question asked the way a hook asks it, from the row that the store keeps for it and the
file of the session, over a store that learnt every earlier session; a warm session is asked beside it.

Times are processor time of the one thread, because the machine is shared.
"""

from __future__ import annotations

import argparse
import gzip
from collections import Counter, defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from time import thread_time

from foresight import asked, files_report, repeats, repeats_report
from gate import gated, gated_report
from sets import DATA

from recollect.observer.collector import SignalCollector
from recollect.observer.events import Event, ToolCall, ToolResult
from recollect.observer.language import fingerprint
from recollect.observer.predictor import SessionPredictor
from recollect.observer.readers import read_events
from recollect.observer.readers.base import ReadingTally
from recollect.observer.signals import DETECTORS

SETS = ("entireio_cli", "context_evaluator")
EARLIER = 2  # sessions an error must have been seen in before to be a repeat
RESULTS = Path(__file__).parent / "results" / "observer.md"


@dataclass
class Run:
    """What one trace set showed."""

    tally: ReadingTally = field(default_factory=ReadingTally)
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
    predictor: list[float] = field(default_factory=list)


def sessions(name: str, tally: ReadingTally) -> Iterator[list[Event]]:
    """The sessions of a set, the one that began first leading."""
    grouped: dict[str, list[Event]] = defaultdict(list)
    with gzip.open(DATA / "traces" / f"{name}.events.jsonl.gz", "rt", encoding="utf-8") as lines:
        for event in read_events(lines, tally=tally):
            grouped[event.session].append(event)
    began = {session: min(event.at for event in events if event.at is not None) for session, events in grouped.items()}
    for session in sorted(grouped, key=lambda one: (began[one], one)):
        yield grouped[session]


def measure(found: list[list[Event]], tally: ReadingTally) -> Run:
    run = Run(tally)
    known: dict[str, int] = Counter()
    for events in found:
        run.sessions += 1
        _watch(run, events)
        tools: dict[str, str] = {}
        here: set[str] = set()
        for event in events:
            if isinstance(event, ToolCall):
                run.calls += 1
                tools[event.call_id] = event.tool
            elif isinstance(event, ToolResult) and event.error and not event.rejected:
                key = f"{tools.get(event.call_id)}: {fingerprint(event.text).key}"
                run.errors += 1
                run.repeats += known[key] >= EARLIER
                run.seen_before += known[key] >= 1
                here.add(key)
        for key in here:
            known[key] += 1
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
        f"- {run.sessions} sessions, {run.tally.lines} lines, {len(times)} events, {run.calls} tool calls; "
        f"{run.tally.broken} broken lines, {run.tally.unknown.total()} unknown, {run.troubles} detector failures",
        f"- tool errors {run.errors}; seen in {EARLIER}+ earlier sessions {run.repeats} = "
        f"{run.repeats / max(1, run.errors):.1%}; in 1+ {run.seen_before} = {run.seen_before / max(1, run.errors):.1%}",
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


def whole(name: str) -> str:
    """Everything about one set."""
    tally = ReadingTally()
    found = list(sessions(name, tally))
    foreseen = ["### Files foreseen from the first request", "", *files_report(name, asked(name, found))]
    warned = ["### Repeated errors foreseen", "", *repeats_report(repeats(found))]
    hooked = ["### Repeated errors foreseen by the hook process", "", *gated_report(gated(found))]
    return "\n".join([report(name, measure(found, tally)), "", *foreseen, "", *warned, "", *hooked])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--sets", nargs="+", default=list(SETS), choices=SETS)
    parser.add_argument("--write", action="store_true", help="write the results page")
    given = parser.parse_args()
    if not (DATA / "traces").is_dir():
        print("The traces are not beside this checkout (../shared/data/traces); nothing to measure.")
        return
    parts = [whole(name) for name in given.sets]
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
