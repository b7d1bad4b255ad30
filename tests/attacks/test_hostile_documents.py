"""Generated hostile documents through every parser in turn: none may raise, none may take long. Seeds repeat a run."""

from __future__ import annotations

import json
import random
import time
from collections.abc import Callable, Iterator

import pytest

from faults.fault_tools import FIGURES, SOAK
from recollect.core.text import split_terms
from recollect.dialogue.extract import split_sentences, statements
from recollect.documents.guidance.statements import split_statements
from recollect.documents.pages import split_passages
from recollect.documents.parse import parse
from recollect.files.ignore import Ignores
from recollect.observer.readers import read_events
from recollect.observer.readers.base import ReadingTally
from recollect.observer.tool_calls import read_tool_call
from recollect.privacy.fence import defuse, own_words
from recollect.privacy.scan import scan

EACH = 1_500 if SOAK else 200  # documents for each target
SECONDS = 1.0  # of CPU for one document
SNIPPETS = [
    "# ", "## a\n", "a\n===\n", "- ", "1. ", "> ", "```\n", "~~~", "|a|b|\n|-|-|\n", "[a](b)", "![", "[[w]]",
    "[x]: /u\n", "<div>", "<!--", "-->", "---\n", "a: b\n", "*", "_", "`", "\\", "&#x41;", "\t", "\r\n", "\n\n",
    "    ", "specs/a", "Refs: b", "{#id}", "!", "**/", "[!a-z]", "[[:alpha:]]", "?", "*a*b", "/", "#",
    "@@ -1,2 +3,4 @@\n", "*** Begin Patch\n", "*** Update File: a\n", "+x\n", "-y\n", "diff --git a/x b/x\n",
    '"', "'", "“", "AND ", "OR ", "NEAR(", "yesterday ", "last 99999999999 weeks ", "I live in ", "my name is ",
    "i no longer ", "Ada said ", "password=", "eyJ", "AKIA", "-----BEGIN ", "<system>", "[INST]", "👩", "\u200d",
    "\u2028", "\x00", "\x1b[31m", "\u202e", "漢字", "e\u0301", "𝐬", "{", "}", "[", "]", "NaN", "1e999", "\\ud800",
    "null", ":", ",", "9" * 400,
]  # fmt: skip


def documents(seed: int, count: int) -> Iterator[str]:
    random_ = random.Random(seed)
    for _ in range(count):
        picked = random_.sample(SNIPPETS, random_.randrange(1, 6))
        size = random_.choice([20, 200, 2_000, 20_000])
        made: list[str] = []
        while sum(map(len, made)) < size and len(made) < 3_000:
            made.append(random_.choice(picked) * random_.choice([1, 1, 2, 50]))
        yield "".join(made)[:40_000]


def _transcript(text: str) -> None:
    lines = [json.dumps({"sessionId": "s", "type": "user", "uuid": "u", "message": {"content": text}})]
    lines += [
        json.dumps({"k": "tool", "tool": text[:50], "args": {"command": text}, "result": text}),
        text,
        "[" * 5_000,
    ]
    lines += ['{"type":"user","sessionId":"s","timestamp":NaN,"message":{"content":"\\ud800"}}', '{"a":' * 3_000]
    for first in range(len(lines)):
        list(read_events(lines[first:] + lines[:first], tally=ReadingTally()))


TARGETS: dict[str, Callable[[str], object]] = {
    "markdown": lambda text: split_passages(parse(text)),
    "plain text": lambda text: split_passages(parse(text, markdown=False)),
    "rules files": split_statements,
    "ignore rules": lambda text: Ignores().with_rules("", text.splitlines()).ignored("a/b/c.md"),
    "transcripts": _transcript,
    "patches": lambda text: read_tool_call("apply_patch", {"patch": text, "input": text, "command": text}, None),
    "queries": lambda text: split_terms(text.encode("utf-8", "replace").decode(), max_chars=20_000),
    "dialogue": lambda text: [statements(one) for one in split_sentences(text)],
    "secrets": scan,
    "fence": lambda text: own_words(defuse(text)),
}


@pytest.mark.parametrize("target", TARGETS)
def test_no_document_breaks_or_holds_up_a_parser(target: str) -> None:
    slowest = 0.0
    for text in documents(sum(map(ord, target)), EACH):
        start = time.process_time()
        TARGETS[target](text)
        taken = time.process_time() - start
        slowest = max(slowest, taken)
        assert taken <= SECONDS, (target, taken, text[:200])
    FIGURES.append(f"row 17: {EACH:,} documents, {target}: 0 uncaught, slowest {slowest:.2f} s")
