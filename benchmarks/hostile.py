"""How long hostile documents and rule files take, and how much memory: `python benchmarks/hostile.py [--source SRC]`.

Each case runs in a process of its own. `--source` names the `src` folder of another version to compare with; a case
that takes longer than a minute is ended and told as such. Writes a table to standard output.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
from pathlib import Path

SIZE = 4_900_000
CASES = {
    "headings": "# a\n",
    "setext headings": "a\n=\n",
    "tables": "|a|b|\n|-|-|\n|1|2|\n\n",
    "ordered list": "1. a\n",
    "links": "[a](b.md)\n\n",
    "definitions": "[r]: /x\n",
    "nested quotes": ">" * 30 + " a\n",
    "HTML blocks": "<div>\n",
    "emphasis": "*a _b ",
    "paragraphs": "word word word word word word\n\n",
}
_READ = """
import sys, time
from recollect.documents.pages import split_passages
from recollect.documents.parse import parse
unit, size = sys.argv[1], int(sys.argv[2])
text = (unit * (size // len(unit) + 1))[:size]
before = time.process_time()
split_passages(parse(text))
spent = time.process_time() - before
peak = next(line for line in open("/proc/self/status") if line.startswith("VmHWM:"))  # since exec, unlike getrusage
print(round(spent, 2), int(peak.split()[1]) // 1024)
"""
_RULES = """
import time
from recollect.files.ignore import Ignores
before = time.process_time()
Ignores().with_rules("", [" " * 100_000 + "!"]).ignored("a.md")
spent = time.process_time() - before
peak = next(line for line in open("/proc/self/status") if line.startswith("VmHWM:"))  # since exec, unlike getrusage
print(round(spent, 2), int(peak.split()[1]) // 1024)
"""


def measure(source: Path, program: str, *given: str) -> str:
    environment = {**os.environ, "PYTHONPATH": str(source)}
    try:
        told = subprocess.run(
            [sys.executable, "-c", program, *given],
            env=environment,
            capture_output=True,
            text=True,
            timeout=60,
            check=True,
        )
    except subprocess.TimeoutExpired:
        return "more than 60 s | "
    seconds, megabytes = told.stdout.split()
    return f"{seconds} s | {megabytes} MB"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--source", type=Path, action="append", help="a `src` folder; this one when none is given")
    sources = parser.parse_args().source or [Path(__file__).parents[1] / "src"]
    print("| 4.9 MB of |" + " CPU | peak memory |" * len(sources))
    print("| --- |" + " --- | --- |" * len(sources))
    for name, unit in CASES.items():
        print(f"| {name} | " + " | ".join(measure(one, _READ, unit, str(SIZE)) for one in sources) + " |", flush=True)
    print("| 100 kB of blanks in an ignore rule | " + " | ".join(measure(one, _RULES) for one in sources) + " |")


if __name__ == "__main__":
    main()
