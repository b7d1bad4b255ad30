"""A secret cut by characters that nobody sees is a secret: cleaning would put it together again in the store."""

from __future__ import annotations

import random
import string
from pathlib import Path

import pytest

import recollect
from faults.fault_tools import base_seed, size
from recollect import Draft
from recollect.core.errors import InvalidField
from recollect.core.text import clean
from recollect.privacy.scan import redact, scan

UNSEEN = (
    "\u200b", "\u200c", "\u200d", "\ufeff", "\u00ad", "\u202e", "\u2060", "\u2066", "\x01", "\x08", "\x1b", "\x7f",
    "\x85", "\x1b[0m", "\ufe0f", "\u034f", "\u3164", "\u180e", "\U000e0041", "\0", "\u200b\u200b", "\x01\u00ad",
)  # fmt: skip


def make_token(chance: random.Random) -> str:
    letters = string.ascii_letters + string.digits
    prefix = chance.choice(("ghp_", "xoxb-1234567890-", "sk_live_", "glpat-"))
    return prefix + "".join(chance.choice(letters) for _ in range(36 if prefix == "ghp_" else 24))


def cut(token: str, chance: random.Random) -> str:
    """The token with something unseen at one or more places inside it."""
    for at in sorted(chance.sample(range(1, len(token)), chance.randint(1, 3)), reverse=True):
        token = token[:at] + chance.choice(UNSEEN) + token[at:]
    return token


def test_no_cut_hides_a_token() -> None:
    chance = random.Random(base_seed())
    for _ in range(size(400, 20_000)):
        token = make_token(chance)
        if not scan(f"the token is {token} here"):  # by chance it looks like a word
            continue
        text = f"pre{chance.choice(UNSEEN)} the token is {cut(token, chance)} here {chance.choice(UNSEEN)}end"
        hidden = redact(text)
        assert hidden.findings, ascii(text)
        assert token[-12:] not in clean(hidden.text)[0], ascii(text)
        assert hidden.text.endswith("end"), ascii(hidden.text)
        assert hidden.text.startswith("pre"), ascii(hidden.text)
        assert redact(hidden.text).text == hidden.text


def test_what_separates_two_tokens_hides_neither() -> None:
    chance = random.Random(base_seed() + 1)
    for mark in UNSEEN:
        one, other = make_token(chance), make_token(chance)
        told = redact(f"A={one}{mark}B={other}{mark}").text
        assert one[-12:] not in told, ascii(mark)
        assert other[-12:] not in told, ascii(mark)


def test_a_letter_that_becomes_another_hides_nothing() -> None:
    token = "ghp_K" + "a1B2c3D4" * 4 + "K7z"
    assert scan(token)
    assert redact(f"token {token.replace('K', chr(0x212A))}").text == redact(f"token {token}").text


@pytest.mark.parametrize("mark", UNSEEN[:-3], ids=ascii)
def test_no_field_of_a_memory_holds_a_token_that_was_cut(tmp_path: Path, mark: str) -> None:
    chance = random.Random(base_seed() + 2)
    fields = ("content", "tags", "files", "modules", "session", "citation", "commit", "why", "attributes", "node")
    tokens = {field: "ghp_" + make_token(random.Random(chance.random()))[-24:] + "a1B2c3D4e5F6" for field in fields}
    told = {field: f"{token[:9]}{mark}{token[9:]}" for field, token in tokens.items()}
    draft = Draft(
        f"My token is {told['content']} here.",
        tags=(told["tags"],),
        files=(told["files"],),
        modules=(told["modules"],),
        session=told["session"],
        citation=told["citation"],
        commit=told["commit"],
        why=told["why"],
        node=told["node"],
        attributes={"note": told["attributes"]},
    )
    (tmp_path / "docs").mkdir()
    (tmp_path / "docs" / "a.md").write_text(f"# Access\n\nThe token is {told['content']} here.\n", encoding="utf-8")
    with recollect.open(tmp_path / "memory.db") as memory:
        memory.remember_all([draft])
        memory.sessions.capture(f"My token is {told['content']} here.", session=told["session"])
        with pytest.raises(InvalidField):
            memory.remember("It is mine.", user=told["session"])
        memory.docs.index([tmp_path / "docs"])
    stored = b"".join(file.read_bytes() for file in tmp_path.iterdir() if file.is_file())
    assert [
        field for field, token in tokens.items() if token[-12:].encode() in stored and token.encode() in stored
    ] == []


def test_a_token_in_the_name_of_an_actor_is_in_no_log_entry(tmp_path: Path) -> None:
    token = "ghp_" + "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"
    path = tmp_path / "memory.db"
    with recollect.open(path, actor=token) as memory:
        memory.remember("The crane is yellow.")
    assert token.encode() not in b"".join(file.read_bytes() for file in tmp_path.iterdir() if file.is_file())
