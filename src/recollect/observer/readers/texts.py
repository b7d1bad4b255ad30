"""What a transcript showed of the files: will an edit find the text that it wants to replace?

A live hook looks at the disk. A transcript has none, but it shows what the session read, wrote and replaced before.
Texts are compared and let go with the session; only a word is kept with the call.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from recollect.observer.events import ActionType, ToolCall

ABSENT, SEVERAL = "absent", "several"  # the words that a hook finds on the disk
_OLD_KEYS = ("old_string", "old_str", "oldString", "old_text", "oldText")
_NEW_KEYS = ("new_string", "new_str", "newString", "new_text", "newText")
_ALL_KEYS = ("replace_all", "replaceAll", "expected_replacements", "allow_multiple")  # then several are what is wanted
_CONTENT_KEYS = ("content", "file_text", "contents")
_NUMBERED = re.compile(r" {0,8}\d{1,7}(?:→|\t|: |\| ?)(.*)")  # how hosts number the lines they show
_FILES, _PARTS = 200, 6  # files that are remembered, and parts of one
_CHARS = 200_000  # of one part
_OPEN = 64  # calls whose answer is awaited


@dataclass(slots=True)
class _Edit:
    old: str
    new: str
    everywhere: bool


@dataclass(slots=True)
class _Asked:
    path: str
    reads: bool
    content: str | None = None
    edits: list[_Edit] = field(default_factory=list)


class ShownTexts:
    """What one session was shown. `look` before a call, `answered` after it."""

    def __init__(self) -> None:
        self._files: dict[str, list[str]] = {}
        self._asked: dict[str, _Asked] = {}

    def look(self, call: ToolCall, arguments: object) -> str:
        """What was shown says of an edit that is about to be made; nothing when all seems as it should be.

        A text that was shown, but for its spaces and tabs, is absent. One that was never shown may well be there.
        """
        if not isinstance(arguments, Mapping) or not call.paths:
            return ""
        if call.action not in (ActionType.READ, ActionType.EDIT):
            return ""
        if len(self._asked) >= _OPEN:
            del self._asked[next(iter(self._asked))]
        asked = self._asked[call.call_id] = _Asked(call.paths[0], call.action is ActionType.READ)
        if asked.reads:
            return ""
        asked.content = next((text for key in _CONTENT_KEYS if isinstance(text := arguments.get(key), str)), None)
        asked.edits = list(_read_edits(arguments))
        parts = self._files.get(asked.path, [])
        for edit in asked.edits:
            times = max((part.count(edit.old) for part in parts), default=0)
            if times > 1 and not edit.everywhere:
                return SEVERAL
            if not times and (bare := _bare(edit.old)) and any(bare in _bare(part) for part in parts):
                return ABSENT
            parts = [_replace(part, edit) for part in parts]
        return ""

    def answered(self, call_id: str, text: str, *, failed: bool) -> None:
        """A call was answered with this text."""
        asked = self._asked.pop(call_id, None)
        if asked is None or failed:
            return
        if asked.reads:
            self._keep(asked.path, _without_numbers(text))
        elif asked.content is not None:
            self._files.pop(asked.path, None)
            self._keep(asked.path, asked.content)
        for edit in asked.edits:
            parts = self._files.get(asked.path, [])
            if any(edit.old in part for part in parts):
                self._files[asked.path] = [_replace(part, edit) for part in parts]
            else:
                self._keep(asked.path, edit.new)

    def _keep(self, path: str, text: str) -> None:
        parts = self._files.pop(path, [])
        if len(self._files) >= _FILES:
            del self._files[next(iter(self._files))]
        self._files[path] = [*parts, text[:_CHARS]][-_PARTS:]


def _read_edits(arguments: Mapping[str, Any]) -> Iterator[_Edit]:
    several = arguments.get("edits")
    for one in several if isinstance(several, list) else [arguments]:
        if not isinstance(one, Mapping):
            continue
        old = next((text for key in _OLD_KEYS if isinstance(text := one.get(key), str) and text), "")
        new = next((text for key in _NEW_KEYS if isinstance(text := one.get(key), str)), "")
        if old:
            yield _Edit(old.replace("\r\n", "\n"), new, any(bool(one.get(key)) for key in _ALL_KEYS))


def _replace(part: str, edit: _Edit) -> str:
    return part.replace(edit.old, edit.new, -1 if edit.everywhere else 1)


def _without_numbers(text: str) -> str:
    """The lines of a file as they are, where the host numbered most of them."""
    lines = text.splitlines()
    found = [match[1] for line in lines if (match := _NUMBERED.match(line))]
    return "\n".join(found) if 2 * len(found) > len(lines) else text


def _bare(text: str) -> str:
    return " ".join(text.split())
