"""What does the present version cost against an earlier one? CPU of commands and calls, in turns, in one run.

    python benchmarks/releases.py --release <sources of the earlier version> [--runs 15]

Each line gives the lowest and the median CPU time (user and system) of both and their ratio. Machines are noisy: trust
the lowest, and nothing below 5 %. Bytecode is compiled first, so that nobody pays for it.
"""

from __future__ import annotations

import argparse
import compileall
import json
import os
import resource
import subprocess
import sys
import tempfile
from collections.abc import Callable, Mapping
from pathlib import Path
from statistics import median

HERE = Path(__file__).parents[1] / "src"
_CALLS = """
import sys, time, recollect
from recollect import Draft
from recollect.config import Settings

def text(n):
    return f"Harbour {n} keeps crane {n % 97} beside warehouse {n % 41} for ship {n * 7}."

with recollect.open(sys.argv[1], project="bench", settings=Settings(embedder="none")) as memory:
    start = time.process_time()
    memory.remember_all([Draft(text(n), kind="decision") for n in range(2000)])
    batch = (time.process_time() - start) / 2000
    start = time.process_time()
    for n in range(200):
        memory.remember(text(5000 + n), kind="decision")
    single = (time.process_time() - start) / 200
    start = time.process_time()
    for n in range(40):
        memory.recall(f"which crane is beside warehouse {n}?", track=False)
    recall = (time.process_time() - start) / 40
print(batch, single, recall)
"""


_EVENTS: dict[str, dict[str, object]] = {
    "hook, session start": {"hook_event_name": "SessionStart", "source": "startup"},
    "hook, prompt": {"hook_event_name": "UserPromptSubmit", "prompt": "How many cranes has pier 3?"},
    "hook, tool": {"hook_event_name": "PostToolUse", "tool_name": "Bash", "tool_use_id": "t",
                   "tool_input": {"command": "make"}, "tool_response": {"stdout": "ok"}},
}  # fmt: skip


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--release", required=True, type=Path, help="the `src` folder of the earlier version")
    parser.add_argument("--runs", type=int, default=15)
    args = parser.parse_args()
    sources = {"earlier": args.release.resolve(), "present": HERE}
    for source in sources.values():
        compileall.compile_dir(source, quiet=2)
    with tempfile.TemporaryDirectory() as folder:
        os.environ["HOME"] = folder  # where a person's key is kept, and nothing of whoever runs this
        stores = {name: Path(folder) / name / ".recollect" / "memory.db" for name in sources}
        for name, source in sources.items():
            for number in range(5):
                _command(source, ["remember", f"Pier {number} has {number + 3} cranes.", "--store", str(stores[name])])
        commands: dict[str, Callable[[int, str], list[str]]] = {
            "recollect recall": lambda run, store: ["recall", "how many cranes", "--store", store],
            "recollect remember": lambda run, store: ["remember", f"Statement number {run}.", "--store", store],
            "recollect --help": lambda run, store: ["--help"],
        }
        for label, words in commands.items():
            spent: dict[str, list[float]] = {name: [] for name in sources}
            for run in range(args.runs):
                for name, source in sources.items():
                    spent[name].append(_command(source, words(run, str(stores[name]))))
            _tell(label, spent)
        for label, event in _EVENTS.items():
            heard: dict[str, list[float]] = {name: [] for name in sources}
            for run in range(args.runs):
                for name, source in sources.items():
                    heard[name].append(_hook(source, {**event, "session_id": f"s{run}"}, stores[name].parents[1]))
            _tell(label, heard)
        calls: dict[str, dict[str, list[float]]] = {}
        for run in range(max(3, args.runs // 3)):
            for name, source in sources.items():
                for label, seconds in _in_process(source, Path(folder) / f"{name}{run}.db").items():
                    calls.setdefault(label, {each: [] for each in sources})[name].append(seconds)
        for label, spent in calls.items():
            _tell(label, spent)


def _environment(source: Path) -> dict[str, str]:
    return {"PYTHONPATH": str(source), "PATH": os.environ["PATH"], "HOME": os.environ["HOME"]}


def _command(source: Path, words: list[str]) -> float:
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    command = [sys.executable, "-m", "recollect", *words]
    subprocess.run(command, env=_environment(source), check=True, capture_output=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def _hook(source: Path, event: Mapping[str, object], folder: Path) -> float:
    """One event as a host gives it, in a process that starts as an installed hook does."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    command = [sys.executable, "-c", "from recollect.interfaces.hook import entry; entry()", "claude-code"]
    environment = {**_environment(source), "RECOLLECT_HOOK_LEARN": "off"}
    given = json.dumps({**event, "cwd": str(folder)})
    subprocess.run(command, env=environment, input=given, text=True, check=True, capture_output=True, cwd=folder)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def _in_process(source: Path, store: Path) -> dict[str, float]:
    done = subprocess.run(
        [sys.executable, "-c", _CALLS, str(store)],
        env=_environment(source),
        check=True,
        capture_output=True,
        text=True,
    )
    labels = ("remember_all, each of 2,000", "remember", "recall over 2,200")
    return dict(zip(labels, map(float, done.stdout.split()), strict=True))


def _tell(label: str, spent: Mapping[str, list[float]]) -> None:
    old, new = spent["earlier"], spent["present"]
    figures = [f"{min(each) * 1000:8.2f} / {median(each) * 1000:8.2f} ms" for each in (old, new)]
    ratio = f"{min(new) / min(old):.2f} / {median(new) / median(old):.2f}"
    print(f"{label:<28} {figures[0]}   {figures[1]}   × {ratio}   (n={len(old)})")


if __name__ == "__main__":
    main()
