"""Files of up to 5 MB that are made to hurt a parser: at most so much processor time and memory for each."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from faults.fault_tools import FIGURES, SOAK
from recollect.files.walk import Found, Skipped, walk

SIZE = 4_900_000 if SOAK else 1_500_000  # characters
SECONDS = 1.0 if SOAK else 0.8  # of CPU; a busy machine is slower, so the bound below is twice that
MEGABYTES = 256
MARKDOWN = {
    "headings": "# a\n", "setext": "a\n=\n", "tables": "|a|b|\n|-|-|\n|1|2|\n\n", "pipes": "|\n", "ordered": "1. a\n",
    "bullets": "- a\n", "links": "[a](b.md) ", "paragraph links": "[a](b.md)\n\n", "brackets": "[",
    "images": "![![![ x\n\n", "emphasis": "*a _b ", "quotes": ">" * 30 + " a\n", "html": "<div>\n",
    "fields": "a: b\n", "comments": "<!--\n",
    "definitions": "[r]: /x\n", "fences": "```\n", "one line": "word ", "blank lines": "\n", "blanks": " \n",
    "cr": "a\r", "rules": "|-|-|\n", "mixed": "- > 1. a\n", "wide": "漢字\n\n",
}  # fmt: skip
_PROGRAM = """
import sys, time
from recollect.documents.pages import split_passages
from recollect.documents.parse import parse
text = "a" + (sys.argv[1] * (int(sys.argv[2]) // len(sys.argv[1]) + 1))[: int(sys.argv[2])] + "b"
parse("# warm\\n\\n[a](b)\\n")
before = time.process_time()
parsed = parse(text)
passages = split_passages(parsed)
spent = time.process_time() - before
peak = next(line for line in open("/proc/self/status") if line.startswith("VmHWM:"))  # since exec, unlike getrusage
print(spent, int(peak.split()[1]) // 1024)
assert "".join(one.text for one in passages) == text or not text.strip()
"""


@pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="memory is read from /proc")
@pytest.mark.parametrize("name", MARKDOWN)
def test_a_hostile_document_is_read_within_limits(name: str) -> None:
    told = subprocess.run(
        [sys.executable, "-c", _PROGRAM, MARKDOWN[name], str(SIZE)],
        capture_output=True,
        text=True,
        check=True,
        timeout=60,
    ).stdout.split()
    FIGURES.append(f"row 17: {SIZE:,} characters of {name}: {float(told[0]):.2f} s, {told[1]} MB")
    assert float(told[0]) <= 2 * SECONDS
    assert int(told[1]) <= MEGABYTES


def test_a_rule_file_of_blanks_costs_nothing_and_a_long_one_says_what_it_left_out(tmp_path: Path) -> None:
    (tmp_path / "a.md").write_text("# a\n")
    (tmp_path / ".gitignore").write_text(" " * 100_000 + "!\n" + "\n".join(f"name{n}*" for n in range(20_000)))
    found = list(walk(tmp_path))
    assert "a.md" in [one.relative for one in found if isinstance(one, Found)]
    reasons = {one.relative: one.reason for one in found if isinstance(one, Skipped)}
    assert "kept the first 5,000 rules and left out 15,000" in reasons[".gitignore"]
