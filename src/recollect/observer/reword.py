"""One call of a language model at most for all memories of a session: the same findings, better told.

Only what nothing from outside has touched is shown to it, and a sentence that names none of the things it was given is
not believed. Without a model, or when it fails, the sentences stay as they were.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from recollect.core.errors import RecollectError
from recollect.core.lazy import Lazy
from recollect.core.text import clean
from recollect.observer.hunch import Hunch
from recollect.observer.room import Room
from recollect.privacy.fence import defuse

_PROMPT = Path(__file__).with_name("prompts") / "reword.txt"
_TOKENS = 1_500  # an answer may have; twenty memories of three sentences
_LONGEST = 500  # characters of one memory
_NAMED = Lazy(r"`([^`\n]{1,200})`")
_SCHEMA: dict[str, Any] = {
    "type": "object",
    "required": ["memories"],
    "properties": {
        "memories": {
            "type": "array",
            "items": {
                "type": "object",
                "required": ["number", "text"],
                "properties": {"number": {"type": "integer"}, "text": {"type": "string"}},
            },
        }
    },
}


def reword(hunches: Sequence[Hunch], room: Room, session: str) -> tuple[list[Hunch], str]:
    """The hunches, some in other words, and what to say when that failed."""
    clean_ones = [number for number, one in enumerate(hunches) if not one.taint]
    if room.model is None or not clean_ones:
        return list(hunches), ""
    lines = [f"{number}. ({hunches[number].kind}) {defuse(hunches[number].text)}" for number in clean_ones]
    try:
        model = room.model("observer", session)
        answer = model.object(
            "\n".join(lines), system=_PROMPT.read_text(encoding="utf-8"), schema=_SCHEMA, most=_TOKENS
        )
    except RecollectError as error:
        return list(hunches), f"{error} Told by rule instead."
    told = list(hunches)
    for item in answer.value["memories"]:
        number, text = item["number"], clean(str(item["text"]))[0]
        if number in clean_ones and _can_be_believed(text, hunches[number]):
            told[number] = replace(hunches[number], text=text)
    return told, ""


def _can_be_believed(text: str, hunch: Hunch) -> bool:
    given = {found.group(1) for found in _NAMED.finditer(hunch.text)} | set(hunch.files)
    return (
        0 < len(text) <= _LONGEST
        and "://" not in text
        and (not given or any(name in text for name in given))
        and {found.group(1) for found in _NAMED.finditer(text)} <= given
    )
