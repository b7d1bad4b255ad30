"""Requirements as spec files state them, and the sentences of any document that say what must hold. Pure.

A delta spec lists requirements under `ADDED`, `MODIFIED`, `REMOVED` and `RENAMED` headings; a canonical spec lists
them. A file without requirement headings is read sentence by sentence.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from recollect.documents.parse import Heading, Parsed, parse
from recollect.remember.opposition import split_sentences

_OPERATION = re.compile(r"^(added|modified|removed|renamed)\b", re.IGNORECASE)
_REQUIREMENT = re.compile(r"^requirement\s*:\s*(.*)$", re.IGNORECASE)
_SCENARIO = re.compile(r"^\s{0,3}#{4,6}\s")
_NORMATIVE = re.compile(
    r"\b(?:must|shall|should|may|can|cannot|will|never|always|only|required?s?|forbid(?:den|s)?|allow(?:ed|s)?|"
    r"at least|at most|no more than|default(?:s)?|\d)",
    re.IGNORECASE,
)
LONGEST_SENTENCE = 600  # characters; longer ones are tables or code


@dataclass(frozen=True, slots=True)
class Requirement:
    """One requirement: its name, what it says, where it stands, and what a delta does to it."""

    name: str
    text: str
    line: int  # counted from 1
    operation: str = ""  # added, modified, removed, renamed; empty in a canonical spec


def requirements(text: str) -> list[Requirement]:
    """The requirements of a spec; without requirement headings, its normative sentences."""
    parsed = parse(text)
    found = list(_headed(parsed))
    return found or [Requirement("", sentence, line) for sentence, line in statements(parsed)]


def _headed(parsed: Parsed) -> Iterator[Requirement]:
    operation, level = "", 7
    for place, heading in enumerate(parsed.headings):
        if heading.level <= level:
            operation, level = "", 7
        if match := _OPERATION.match(heading.text):
            operation, level = match[1].lower(), heading.level
            continue
        if named := _REQUIREMENT.match(heading.text):
            following = parsed.headings[place + 1 :]
            body = _body(parsed, heading, following)
            yield Requirement(named[1].strip() or "unnamed", body, heading.line + 1, operation)


def _body(parsed: Parsed, heading: Heading, following: tuple[Heading, ...]) -> str:
    end = following[0].line if following else len(parsed.lines) - 1
    lines = parsed.text[parsed.lines[heading.line] : parsed.lines[end]].splitlines()[1:]
    said: list[str] = []
    for line in lines:
        if _SCENARIO.match(line):  # examples of the requirement, not the requirement
            break
        said.append(line)
    return "\n".join(said).strip()


def statements(parsed: Parsed) -> list[tuple[str, int]]:
    """The sentences of a document that state what must, may or does hold, each with its line."""
    found: list[tuple[str, int]] = []
    for block in parsed.blocks:
        if block.whole:
            continue
        text = parsed.text[parsed.lines[block.start] : parsed.lines[block.end]]
        for sentence in split_sentences(text):
            if _NORMATIVE.search(sentence) and len(sentence) <= LONGEST_SENTENCE:
                at = text.find(sentence.split()[0])
                found.append((sentence, block.start + 1 + text.count("\n", 0, max(0, at))))
    return found
