"""basic-memory: a vault of Markdown notes with observations (`- [category] text #tag (context)`) and relations."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Mapping
from itertools import islice
from pathlib import Path

from recollect.core.kinds import Kind
from recollect.portable.foreign.base import ForeignMemory, LeftOut, labels_of, moment_of, read_text_file

_FIELD = re.compile(r"^([A-Za-z_][\w-]{0,60}):[ \t]*(.*)$")
_ITEM = re.compile(r"^[ \t]*-[ \t]+(.*)$")
_OBSERVATION = re.compile(r"^[ \t]*[-*][ \t]+\[([^\[\]\n]{1,60})\][ \t]+(\S.*)$")
_RELATION = re.compile(r"^[ \t]*+[-*][ \t]++([^\[\]\n]{0,80}+)\[\[([^\[\]\n]{1,200}+)\]\](.*)$")
_TAG = re.compile(r"(?<!\S)#([\w/-]{1,80})")
_CONTEXT = re.compile(r"\(([^()]{1,300}+)\)$")  # of a text without spaces at its end
_HEADING = re.compile(r"^#{1,6}[ \t]+(.*)$")
_BOXES = frozenset({" ", "x", "X", "-"})  # a task, not a category
_KINDS = {
    "decision": Kind.DECISION,
    "preference": Kind.PREFERENCE,
    "requirement": Kind.REQUIREMENT,
    "rule": Kind.REQUIREMENT,
    "pattern": Kind.PATTERN,
    "technique": Kind.PATTERN,
    "method": Kind.PATTERN,
    "gotcha": Kind.GOTCHA,
    "warning": Kind.GOTCHA,
    "issue": Kind.GOTCHA,
    "problem": Kind.ERROR_PATTERN,
    "bug": Kind.ERROR_PATTERN,
}
_MOST_NOTES = 200_000
_LOOKED_AT = 20  # notes by which a vault is recognised
_LONGEST = 20_000  # characters of a note's own text that become one memory


class BasicMemoryReader:
    """The notes of a basic-memory project."""

    name = "basic-memory"
    about = "basic-memory: the folder of its Markdown notes"

    def recognises(self, path: Path) -> bool:
        """Notes have a permalink in their front matter; nothing else here does."""
        for note in islice(_notes(path), _LOOKED_AT):
            with open(note, "rb") as stream:
                start = stream.read(2_000).decode("utf-8", "replace")
            if start.startswith("---") and re.search(r"^permalink:", start, re.MULTILINE):
                return True
        return False

    def read(self, path: Path, left_out: LeftOut) -> Iterator[ForeignMemory]:
        base = path if path.is_dir() else path.parent
        for note in _notes(path):
            yield from _read_note(note, note.relative_to(base).as_posix(), left_out)


def _notes(path: Path) -> Iterator[Path]:
    """The notes below a folder, in order; no link is followed and nothing hidden is read."""
    if path.is_file():
        if path.suffix == ".md":
            yield path
        return
    found = 0
    for folder, folders, names in os.walk(path):
        folders[:] = sorted(one for one in folders if not one.startswith("."))
        for name in sorted(names):
            note = Path(folder, name)
            if name.endswith(".md") and not name.startswith(".") and not note.is_symlink():
                found += 1
                if found > _MOST_NOTES:
                    return
                yield note


def _read_note(path: Path, shown: str, left_out: LeftOut) -> Iterator[ForeignMemory]:
    fields, lines = _split_front(read_text_file(path))
    title = _plain(fields.get("title")) or path.stem
    permalink = _plain(fields.get("permalink")) or shown.removesuffix(".md")
    tags = labels_of(fields.get("tags"))
    created = moment_of(_plain(fields.get("created")) or _plain(fields.get("date")))
    prose: list[str] = []
    number = 0
    for place, line in enumerate(lines, start=1):
        observed = _OBSERVATION.match(line)
        if observed and observed[1] not in _BOXES:
            number += 1
            text, own, context = _observation(observed[2])
            yield ForeignMemory(
                f"{title}: {text}",
                id=f"{permalink}#{observed[1]}/{text[:80]}",
                place=f"{shown}: line {place}",
                kind=_KINDS.get(observed[1].strip().lower(), Kind.FACT),
                created_at=created,
                tags=tuple(dict.fromkeys((*tags, *own))),
                attributes={
                    "note": permalink,
                    "category": observed[1].strip(),
                    **({"context": context} if context else {}),
                },
            )
        elif _RELATION.match(line):
            left_out["relations between notes"] += 1
        else:
            prose.append(line)
    if (body := _body(prose, title)) and number == 0:
        yield ForeignMemory(
            f"{title}: {body}"[:_LONGEST],
            id=permalink,
            place=shown,
            created_at=created,
            tags=tags,
            attributes={"note": permalink},
        )
    elif body:
        left_out["prose around observations: index the folder with `recollect docs index`"] += 1


def _observation(text: str) -> tuple[str, list[str], str]:
    """The words of an observation, its tags and its context."""
    text = text.rstrip()
    context = _CONTEXT.search(text)
    if context:
        text = text[: context.start()]
    tags = _TAG.findall(text)
    return " ".join(_TAG.sub("", text).split()), tags, context[1] if context else ""


def _body(lines: list[str], title: str) -> str:
    kept = [line for line in lines if not _HEADING.match(line)]
    text = "\n".join(kept).strip()
    return "" if text == title else text


def _split_front(text: str) -> tuple[Mapping[str, str | list[str]], list[str]]:
    """The plain fields of the front matter, and the lines behind it."""
    lines = text.replace("\r\n", "\n").split("\n")
    if lines[0].strip() != "---":
        return {}, lines
    fields: dict[str, str | list[str]] = {}
    name = ""
    for place, line in enumerate(lines[1:], start=1):
        if line.strip() in ("---", "..."):
            return fields, lines[place + 1 :]
        if found := _FIELD.match(line):
            name = found[1].lower()
            fields[name] = found[2].strip()
        elif name and (item := _ITEM.match(line)):
            known = fields[name]
            fields[name] = [*(known if isinstance(known, list) else []), item[1].strip(" \"'")]
    return {}, lines


def _plain(value: str | list[str] | None) -> str:
    return value.strip(" \"'") if isinstance(value, str) else ""
