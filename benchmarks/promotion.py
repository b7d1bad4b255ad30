"""What the observer makes of real sessions: how many memories, how many doubles, whether each can be traced, whether
the future bears them out, and what it costs.

The traces are read from ../shared/data beside the checkout and never committed. Sessions are taken in time order and
each is learnt from before the next one begins. A memory is *borne out* by rules that look only at sessions after
the one that promoted it:

- changed together: of the later sessions that changed the first file, the share that changed the other too; both
  ways where it says "together";
- usual files: of the later sessions that changed something in the folder, the share that used the first file named;
- error: the same tool, command and fingerprint came back in a later session, so knowing it could have helped; a file
  that is said not to be there was never changed later;
- order of tests: of the later sessions that had both orders or one, the share that had this one;
- large file, wrong place, redone changes, settings, search: the same signal about the same thing came back later.

What people said cannot be judged by a rule: those are only checked for form (a quotation of six words or more) and
counted apart. A double is a pair of memories of one kind that share three quarters of their words and half of the
things named.
"""

from __future__ import annotations

import argparse
import re
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from itertools import combinations
from pathlib import Path
from time import perf_counter, process_time

from sets import DATA

import recollect
from observer import SETS, sessions
from recollect.core.kinds import Kind
from recollect.core.observed import Contribution
from recollect.core.query import Filter
from recollect.core.records import Memory
from recollect.core.scope import Status
from recollect.core.text import words
from recollect.observer import policy
from recollect.observer.readers.base import ReadingTally
from recollect.observer.watcher import SessionWatcher
from recollect.privacy.scan import scan

RESULTS = Path(__file__).parent / "results" / "promotion.md"
_NAMED = re.compile(r"`([^`\n]{1,200})`")
_QUOTED = re.compile(r"“([^”]{0,400})”")
_EXAMPLES = 3


@dataclass
class Run:
    """What one trace set taught."""

    sessions: int = 0
    added: list[int] = field(default_factory=list)
    reinforced: int = 0
    left_out: Counter[str] = field(default_factory=Counter)
    wall: list[float] = field(default_factory=list)
    cpu: list[float] = field(default_factory=list)
    seen: list[Contribution] = field(default_factory=list)
    steps: dict[str, int] = field(default_factory=dict)
    memories: list[Memory] = field(default_factory=list)
    promoted_at: dict[str, int] = field(default_factory=dict)  # memory → number of the session that promoted it
    again_changed: int = 0


def measure(name: str) -> Run:
    run = Run()
    with recollect.open(":memory:", project=name) as memory:
        for number, events in enumerate(sessions(name, ReadingTally())):
            watch = SessionWatcher(events[0].session)
            for event in events:
                watch.feed(event)
            wall, cpu = perf_counter(), process_time()
            learned = memory.observer.finish(watch)
            run.wall.append(perf_counter() - wall)
            run.cpu.append(process_time() - cpu)
            run.sessions += 1
            run.added.append(len(learned.added))
            run.reinforced += len(learned.reinforced)
            run.left_out.update(learned.left_out)
            run.promoted_at.update((kept.memory.id, number) for kept in learned.added)
            run.seen.append(watch.contribution())
            run.steps[watch.session] = max(event.step for event in events)
        run.memories = list(memory.list(Filter(statuses=frozenset(Status)), limit=5_000).memories)
        for events in list(sessions(name, ReadingTally()))[:20]:
            watch = SessionWatcher(events[0].session)
            for event in events:
                watch.feed(event)
            again = memory.observer.finish(watch)
            run.again_changed += len(again.added) + len(again.reinforced)
    return run


# --- traceable, double ----------------------------------------------------------------------------------------------


def untraceable(run: Run) -> int:
    """Memories without evidence, or with evidence that names a session or a step that never was."""
    bad = 0
    for memory in run.memories:
        evidence = memory.attributes.get("evidence", [])
        sound = bool(evidence) and all(
            one["session"] in run.steps and all(step <= run.steps[one["session"]] for step in one["steps"])
            for one in evidence
        )
        bad += not sound
    return bad


def doubles(run: Run) -> list[tuple[Memory, Memory]]:
    by_kind: dict[str, list[Memory]] = defaultdict(list)
    for memory in run.memories:
        by_kind[memory.kind].append(memory)
    return [pair for some in by_kind.values() for pair in combinations(some, 2) if _double(*pair)]


def _double(one: Memory, other: Memory) -> bool:
    mine, theirs = set(_NAMED.findall(one.content)), set(_NAMED.findall(other.content))
    if (mine or theirs) and len(mine & theirs) / len(mine | theirs) < 0.5:
        return False
    a, b = set(words(one.content)), set(words(other.content))
    return len(a & b) / max(1, len(a | b)) >= policy.SAME_OVERLAP


# --- borne out ------------------------------------------------------------------------------------------------------


def borne_out(memory: Memory, later: list[Contribution]) -> float | None:
    """How far the later sessions bear a memory out, from 0 to 1; None when none of them can tell."""
    signal = memory.attributes["signal"]
    if signal == "co_access":
        first, then = _NAMED.findall(memory.content)[:2]
        ways = ((first, then), (then, first)) if "together" in memory.content else ((first, then),)
        known = [share for a, b in ways if (share := _together(later, a, b)) is not None]
        return sum(known) / len(known) if known else None
    if memory.kind == Kind.PREFETCH_PATTERN:
        module, first = _NAMED.findall(memory.content)[:2]
        return _share(later, lambda one: any(f.edits and f.module == module for f in one.files),
                      lambda one: any(f.path == first for f in one.files))  # fmt: skip
    if signal == "error_retry":
        return _errors(memory, later)
    if signal == "test_order":
        first, then = _NAMED.findall(memory.content)[:2]
        orders = [one.subject for c in later for one in c.signals if one.name == "test_order"]
        here, back = orders.count(f"{first} → {then}"), orders.count(f"{then} → {first}")
        return here / (here + back) if here + back else None
    if signal == "self_correction":
        return None
    named = set(_NAMED.findall(memory.content)) | set(memory.files)
    chance = [c for c in later if named & {f.path for f in c.files}]
    came = [c for c in chance if any(one.name == signal and (named & {*one.paths, one.subject}) for one in c.signals)]
    return float(bool(came)) if chance else None


def _together(later: list[Contribution], first: str, then: str) -> float | None:
    return _share(later, lambda one: _changed(one, first), lambda one: _changed(one, then))


def _share(
    later: list[Contribution], concerns: Callable[[Contribution], bool], holds: Callable[[Contribution], bool]
) -> float | None:
    concerned = [one for one in later if concerns(one)]
    return sum(holds(one) for one in concerned) / len(concerned) if concerned else None


def _changed(one: Contribution, path: str) -> bool:
    return any(file.path == path and file.edits for file in one.files)


def _errors(memory: Memory, later: list[Contribution]) -> float | None:
    trigger = memory.attributes["trigger"]
    if memory.content.startswith("There is no"):
        path = _NAMED.findall(memory.content)[0]
        return float(not any(_changed(one, path) for one in later)) if later else None
    using = [one for one in later if any(c.tool == trigger["tool"] for c in one.calls)]
    wanted = (trigger["tool"], " ".join(trigger["words"]), trigger["fingerprint"])
    came = any((e.tool, e.words, e.fingerprint) == wanted for one in using for e in one.errors)
    return float(came) if using else None


def well_formed(memory: Memory) -> bool:
    return any(len(said.split()) >= 6 for said in _QUOTED.findall(memory.content))


# --- the page -------------------------------------------------------------------------------------------------------


def report(name: str, run: Run) -> str:
    total = len(run.memories)
    double = doubles(run)
    by = defaultdict(list)
    for memory in run.memories:
        by[memory.attributes["signal"]].append(memory)
    status = Counter(str(memory.status) for memory in run.memories)
    tainted = [memory for memory in run.memories if memory.attributes.get("tainted")]
    lines = [
        f"## {name}",
        "",
        f"- {run.sessions} sessions: {total} memories = {total / run.sessions:.2f} a session, "
        f"at most {max(run.added)}, none in {sum(not n for n in run.added) / run.sessions:.0%} of them; "
        f"borne out again {run.reinforced} times",
        f"- doubles {len(double)} of {total} memories; traceable to session and steps {total - untraceable(run)} of "
        f"{total}; the first 20 sessions again: {run.again_changed} changes",
        f"- status: {', '.join(f'{n} {one}' for one, n in sorted(status.items()))}; tainted {len(tainted)}, of them "
        f"shown {sum(memory.status is not Status.CANDIDATE for memory in tainted)}",
        f"- left out: {', '.join(f'{n} {why}' for why, n in run.left_out.most_common())}",
        f"- finishing a session: {_times('CPU', run.cpu)}; {_times('wall', run.wall)}",
        "",
        "| signal | memories | shown | tainted | judged | borne out | mean sessions behind it |",
        "|---|---|---|---|---|---|---|",
    ]
    lines += [_row(signal, by[signal], run) for signal in policy.GRADES]
    lines += ["", "Examples (people's own words are left out):", ""]
    lines += list(_examples(by))
    return "\n".join(lines)


def _times(what: str, taken: list[float]) -> str:
    ordered = [one * 1e3 for one in sorted(taken)]
    middle, high = ordered[len(ordered) // 2], ordered[int(len(ordered) * 0.95)]
    return f"{what} median {middle:.0f} ms, p95 {high:.0f} ms, most {ordered[-1]:.0f} ms"


def _row(signal: str, memories: list[Memory], run: Run) -> str:
    if signal == "self_correction":
        judged = [float(well_formed(memory)) for memory in memories]
        told = f"{len(judged)} (form only)"
    else:
        found = [borne_out(memory, run.seen[run.promoted_at[memory.id] + 1 :]) for memory in memories]
        judged = [one for one in found if one is not None]
        told = str(len(judged))
    shown = sum(memory.status is Status.ACTIVE for memory in memories)
    tainted = sum(bool(memory.attributes.get("tainted")) for memory in memories)
    mean = sum(len(memory.provenance) for memory in memories) / max(1, len(memories))
    share = f"{sum(judged) / len(judged):.0%}" if judged else "–"
    return f"| {signal} | {len(memories)} | {shown} | {tainted} | {told} | {share} | {mean:.1f} |"


def _examples(by: dict[str, list[Memory]]) -> Iterator[str]:
    for signal in policy.GRADES:
        ranked = sorted(by[signal], key=lambda memory: (-len(memory.provenance), memory.content))
        for memory in ranked[:_EXAMPLES]:
            told = _QUOTED.sub("“…”", memory.content) if signal == "self_correction" else memory.content
            if not scan(told):
                yield f"- {signal}: {told}"


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
        "# What the observer makes of real sessions\n\n"
        f"{(__doc__ or '').strip()}\n\n    python benchmarks/promotion.py --write\n\n" + "\n\n".join(parts) + "\n"
    )
    print(page)
    if asked.write:
        RESULTS.write_text(page, encoding="utf-8")


if __name__ == "__main__":
    main()
