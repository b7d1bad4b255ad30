"""`make demo`: the main job on real material: this repository's decisions, and a real conversation if at hand."""

from __future__ import annotations

import json
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import recollect
from recollect.config import Settings
from recollect.interfaces.cli.demo_material import prompt_event, write_transcripts
from recollect.store.check import check
from recollect.testing.chat_server import Calls, chat_server

HERE = Path(__file__).parents[1]
TALKS = HERE.parent / "shared" / "data" / "conv" / "locomo_conversations_0-4.json"


def main() -> None:
    folder = Path(tempfile.mkdtemp(prefix="recollect-demo-"))
    try:
        decisions(folder)
        corrections(folder)
        killed(folder)
        talking(folder)
        chatting(folder)
        documents(folder)
        source(folder)
        watching(folder)
        conversation(folder)
        panel(folder)
        say("\nThat was Recollect: one file, no server, no key. `recollect --help` shows the rest.")
    finally:
        shutil.rmtree(folder)


def decisions(folder: Path) -> None:
    title("1. A project learns its own decisions")
    run(folder, "init", "--project", "demo")
    drafts = "\n".join(json.dumps(draft) for page in sorted(HERE.glob("docs/decisions/*.md")) for draft in parts(page))
    run(folder, "remember", "--jsonl", stdin=drafts)
    run(folder, "tend")
    for question in (
        "why not the sqlite3 module of the standard library?",
        "can a forgotten memory be brought back?",
        "what keeps writers from waiting for ever?",
    ):
        run(folder, "recall", question, "-k", "2")


def parts(page: Path) -> list[dict[str, object]]:
    """Each paragraph and list item of a decision, as a memory about that page."""
    text = page.read_text(encoding="utf-8")
    blocks = re.split(r"\n\s*\n|\n- ", text.partition("\n")[2])
    flat = [re.sub(r"\s+", " ", re.sub(r"[*`]", "", block)).strip() for block in blocks]
    name = str(page.relative_to(HERE))
    return [{"content": block, "kind": "decision", "files": [name]} for block in flat if len(block.split()) > 6]


def corrections(folder: Path) -> None:
    title("2. Corrections stick, secrets do not")
    run(folder, "remember", "The API listens on port 8080.", "--kind", "fact")
    run(folder, "remember", "The API now listens on port 9090.", "--kind", "fact")
    run(folder, "recall", "API port")
    with recollect.open(folder) as memory:
        run(folder, "reject", memory.recall("API port", track=False).hits[0].id, "--why", "it is behind a proxy")
    run(folder, "remember", "The API now listens on port 9090.", "--kind", "fact")
    run(folder, "undo")
    run(folder, "remember", "CI uses token " + "ghp_" + "x7K2m9Q4" * 4 + "Zr81" + " for releases.")


def killed(folder: Path) -> None:
    title("3. kill -9 in the middle of writing")
    program = (
        "import sys, recollect\n"
        "with recollect.open(sys.argv[1]) as memory:\n"
        "    for n in range(100000):\n"
        "        print(memory.remember(f'Pebble {n} was counted.', kind='episode').id, flush=True)\n"
    )
    acknowledged: list[str] = []
    for _ in range(5):
        writer = subprocess.Popen([sys.executable, "-c", program, str(folder)], stdout=subprocess.PIPE, text=True)
        time.sleep(1.0)
        os.kill(writer.pid, signal.SIGKILL)
        assert writer.stdout is not None
        acknowledged += [line.strip() for line in writer.stdout.readlines() if line.endswith("\n")]
        writer.wait()
    with recollect.open(folder) as memory:
        lost = [id for id in acknowledged if not memory.store.memories.get_many([id]).memories]
        sound = check(memory.store).ok
    say(
        f"5 kills, {len(set(acknowledged)):,} acknowledged writes, {len(lost)} lost; every row and index sound: {sound}"
    )


def talking(folder: Path) -> None:
    title("4. Conversations become facts that cite them, and change with the times")
    said = [
        ("monday", "user", "Hi, I'm Ada and I live in Lisbon. I prefer tea over coffee.", "2026-01-05T10:00:00Z"),
        ("monday", "assistant", "Nice to meet you, Ada!", "2026-01-05T10:00:05Z"),
        ("march", "user", "I moved to Porto, and I work at Acme Corp now.", "2026-03-02T09:00:00Z"),
    ]
    lines = [json.dumps(dict(zip(("session", "role", "content", "at"), one, strict=True))) for one in said]
    chat = folder / "chat.jsonl"
    chat.write_text("\n".join(lines), encoding="utf-8")
    run(folder, "import", str(chat))
    run(folder, "tend", "--job", "consolidate")
    run(folder, "facts", "--all")


def chatting(folder: Path) -> None:
    title("5. An agent remembers: a chat with a scripted model (no network), and rules files as memories")
    learns = Calls([("remember_fact", {"content": "Ada's boat is called Argo."})])

    def script(request: dict[str, Any]) -> str | Calls:
        """Answers only from what it is given: so the answer shows what memory brought."""
        said = [str(one.get("content") or "") for one in request["messages"]]
        if "my boat is called" in said[-1].lower():
            return learns
        return "Noted." if request["messages"][-1]["role"] == "tool" else _boat("\n".join(said))

    with chat_server(script) as server:
        chat = ("chat", "--model", server.setting, "--once")
        run(folder, *chat, "My boat is called Argo.", "--session", "monday")
        run(folder, *chat, "What is my boat called?", "--session", "tuesday", "--memory", "recency", "--no-tools")
        run(folder, *chat, "What is my boat called?", "--session", "wednesday", "--memory", "recollect")
    run(folder, "logs", "--turns")
    (folder / "AGENTS.md").write_text("# Rules\n\n- Never push to main.\n- Prefer small commits.\n", encoding="utf-8")
    run(folder, "import", "rules", str(folder))
    run(folder, "import", "rules", str(folder))


def _boat(said: str) -> str:
    found = re.search(r"boat is called (\w+)", said)
    return f"It is called {found[1]}." if found else "I have no memory of that."


def documents(folder: Path) -> None:
    title("6. This repository's documents")
    shutil.copytree(HERE / "docs", folder / "docs")
    run(folder, "docs", "index", str(folder / "docs"))
    run(folder, "docs", "search", "how do I put a backup back", "--limit", "3")


def source(folder: Path) -> None:
    title("7. This repository's source: what breaks if I change this?")
    shutil.copytree(HERE / "src", folder / "src", ignore=shutil.ignore_patterns("__pycache__"))
    run(folder, "code", "index", str(folder))
    run(folder, "code", "impact", "src/recollect/recall/score.py")


def watching(folder: Path) -> None:
    title("8. What agents do: three sessions meet the same trouble, a person confirms the lesson, the fourth is told")
    place = folder / "watched"
    place.mkdir()
    run(place, "init", "--project", "watched")
    run(place, "observe", *map(str, write_transcripts(place)))
    run(place, "review", "--all-confirm", "--as-person")
    run(place, "foresee", "recall is slow again")
    say("$ recollect-hook claude-code   # as Claude Code calls it when a prompt is sent")
    hook = [sys.executable, "-m", "recollect.interfaces.hook", "claude-code"]
    event = prompt_event("session-4", place, "npm run lint fails, what now?")
    subprocess.run(hook, input=event, text=True, check=False, env={**os.environ, "RECOLLECT_ARM": "full"}, timeout=30)
    say("")


def conversation(folder: Path) -> None:
    title("9. A real conversation")
    if not TALKS.exists():
        say("(no conversation data beside this checkout; skipped)")
        return
    talk = json.loads(TALKS.read_text(encoding="utf-8"))[0]
    turns = [(turn, key) for key, value in talk["conversation"].items() if isinstance(value, list) for turn in value]
    for embedder, how in (("none", "by keyword alone"), ("pack:potion", "with the tiny model pack")):
        with recollect.open(folder / "talk.db", project="talk", settings=Settings(embedder=embedder)) as memory:
            if memory.count() == 0:
                start = time.perf_counter()
                memory.remember_all(map(episode, turns))
                say(f"{len(turns)} turns remembered in {time.perf_counter() - start:.2f} s")
            if embedder != "none" and memory.tend().model is None:
                say("(no model pack is installed; `recollect models install potion` fetches one)")
                return
            found, asked = evidence_found(memory, talk["qa"])
            say(f"{asked} questions {how}: evidence among the first ten for {found} ({found / asked:.0%})")


def panel(folder: Path) -> None:
    title("10. The same memory in a browser")
    from recollect.interfaces.http.pictures import take, why_not

    if missing := why_not():
        say(f"({missing})")
        return
    say("$ recollect serve   # started, three views opened in a real browser, stopped")
    views = {"home": "/", "memories": "/memories?kind=decision", "map": "/map"}
    for file in take(folder, HERE / "build" / "panel-pictures", views):
        say(f"{file.relative_to(HERE)}")


def episode(said: tuple[dict[str, str], str]) -> recollect.Draft:
    turn, session = said
    return recollect.Draft(
        turn["text"] or "(a photo)", kind="episode", session=session, source_role=turn["speaker"], tags=[turn["dia_id"]]
    )


def evidence_found(memory: recollect.Recollect, questions: list[dict[str, Any]]) -> tuple[int, int]:
    found = asked = 0
    for question in questions:
        gold = {id for id in question.get("evidence", []) if re.fullmatch(r"D\d+:\d+", id)}
        if gold and question["category"] != 5:
            hits = memory.recall(question["question"], k=10, track=False)
            asked += 1
            found += bool(gold & {tag for hit in hits for tag in hit.memory.tags})
    return found, asked


def title(text: str) -> None:
    say(f"\n\033[1m{text}\033[0m" if sys.stdout.isatty() else f"\n{text}")


def say(text: str) -> None:
    print(text, flush=True)


def run(folder: Path, *words: str, stdin: str | None = None) -> None:
    shown = " ".join(f'"{word}"' if " " in word else word for word in words)
    say(f"$ recollect {re.sub(r'ghp_[A-Za-z0-9]+', 'ghp_…', shown)}")
    command = [sys.executable, "-m", "recollect", *words, "--store", str(folder)]
    subprocess.run(command, input=stdin, text=True, check=False, stderr=subprocess.STDOUT)


if __name__ == "__main__":
    main()
