"""What a whole hook process costs at each event of a session, against a bare `python -c pass` run in turns.

Short sessions over a store of 10,000 memories that learnt from real sessions: a prompt, a command before it runs and
after it ran (a result of 20,000 letters), an edit before it is made. `--source` measures another checkout's hook on
the same store, to compare before and after a change.

    python benchmarks/hook.py --runs 100 --write
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import tempfile
from pathlib import Path
from typing import Any

from sets import DATA

import agent
import recollect
from agent import ASKED, SETS, filled, quantile, sessions
from recollect.observer.failure_patterns import SNAPSHOT_NAME

RESULTS = Path(__file__).parent / "results" / "hook.md"
ENTRY = "import sys; from recollect.interfaces.hook import entry; sys.exit(entry())"  # what pip's script does
LEARNT = 60  # sessions the store has learnt from
_WARM = 3  # runs that fill the caches and are not counted


def project(folder: Path) -> Path:
    """A project whose store is large and has an outlook."""
    made = folder / "hook"
    filled(made / ".recollect" / "memory.db", 10_000)
    with recollect.open(made / ".recollect" / "memory.db") as memory:
        if not memory.store.meta(SNAPSHOT_NAME):
            for events in sessions(SETS[0])[:LEARNT]:
                watch = memory.observer.watch(events[0].session)
                for event in events:
                    watch.feed(event)
                memory.observer.finish(watch)
    return made


def told(root: Path, session: str, number: int) -> dict[str, dict[str, Any]]:
    """The events of one turn, by what they are called here."""
    common = {"session_id": session, "cwd": str(root)}
    line = f"src/part{number}/file.go:12: an ordinary line of some output, see docs/page{number}.md\n"
    command = {"tool_name": "Bash", "tool_input": {"command": f"go test ./part{number}/..."}}
    file = {"tool_name": "Edit", "tool_input": {"file_path": f"{root}/src/new{number}.go", "old_string": "\tx"}}
    return {
        "prompt": {**common, "hook_event_name": "UserPromptSubmit", "prompt_id": str(number), "prompt": ASKED},
        "before a command": {**common, **command, "hook_event_name": "PreToolUse", "tool_use_id": f"b{number}"},
        "after a command": {**common, **command, "hook_event_name": "PostToolUse", "tool_use_id": f"b{number}",
                            "tool_response": {"stdout": (line * 300)[:20_000], "stderr": ""}},
        "before an edit": {**common, **file, "hook_event_name": "PreToolUse", "tool_use_id": f"e{number}"},
    }  # fmt: skip


def measured(root: Path, runs: int) -> list[str]:
    spent: dict[str, list[tuple[float, float]]] = {}
    answered: dict[str, int] = {}
    for number in range(runs + _WARM):
        session = f"bench-{os.getpid()}-{number}"
        start = {"session_id": session, "cwd": str(root), "hook_event_name": "SessionStart", "source": "startup"}
        agent._spent([sys.executable, "-c", ENTRY, "claude-code"], json.dumps(start).encode())
        rows = {"bare": agent._spent([sys.executable, "-c", "pass"], b"")}
        for name, event in told(root, session, number).items():
            rows[name] = agent._spent([sys.executable, "-c", ENTRY, "claude-code"], json.dumps(event).encode())
        for name, row in rows.items() if number >= _WARM else ():
            spent.setdefault(name, []).append(row[:2])
            answered[name] = answered.get(name, 0) + bool(row[2])
    lines = [
        f"{runs} runs; the store learnt from {LEARNT} sessions.",
        "",
        "| event | answered | wall median | p95 | CPU median | p95 | CPU ratio median | p95 |",
        "|---|---|---|---|---|---|---|---|",
    ]
    for name, times in spent.items():
        cells = [quantile([one[place] for one in times], share) for place in (0, 1) for share in (0.5, 0.95)]
        bare = [quantile([one[1] for one in spent["bare"]], share) for share in (0.5, 0.95)]
        ratios = f"{cells[2] / bare[0]:.2f} | {cells[3] / bare[1]:.2f}"
        lines.append(f"| {name} | {answered[name]} | {' | '.join(f'{one:.1f} ms' for one in cells)} | {ratios} |")
    return lines


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--runs", type=int, default=100)
    parser.add_argument("--source", type=Path, default=agent.SOURCE, help="the `src` whose hook is measured")
    parser.add_argument("--folder", type=Path, default=Path(tempfile.gettempdir()) / "recollect-hook-bench")
    parser.add_argument("--write", action="store_true", help="write the results page")
    asked = parser.parse_args()
    if not (DATA / "traces").is_dir():
        print("The traces are not beside this checkout (../shared/data/traces); nothing to measure.")
        return
    os.environ.setdefault("RECOLLECT_EMBEDDER", "none")
    root = project(asked.folder)
    agent.SOURCE = asked.source
    lines = measured(root, asked.runs)
    print("\n".join(lines))
    if asked.write:
        RESULTS.write_text(
            f"# A hook process\n\n{(__doc__ or '').strip()}\n\n" + "\n".join(lines) + "\n", encoding="utf-8"
        )


if __name__ == "__main__":
    main()
