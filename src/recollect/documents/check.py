"""Checking documents: does a change contradict the specs that hold, do two documents contradict, does every link lead
somewhere? Reads files and the store, changes nothing.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from recollect.core.documents import Document
from recollect.core.errors import ChangeNotFound, DocumentNotFound, OutsideProject
from recollect.documents.context import DocumentsContext
from recollect.documents.links import as_reference, file_candidates, make_catalogue, resolve_all
from recollect.documents.pages import Unreadable, read_text
from recollect.documents.parse import Heading, Parsed, parse
from recollect.remember.contradiction import Judge, Judgement
from recollect.remember.opposition import split_sentences

_MAX_PAIRS = 200_000  # of two documents that are compared with each other
_SPEC_HOMES = ("cyberk-flow", "openspec", ".")


@dataclass(frozen=True, slots=True)
class Side:
    """One of two statements that are compared."""

    path: str
    line: int
    name: str
    text: str


@dataclass(frozen=True, slots=True)
class Conflict:
    """A statement of a change, or of a document, that contradicts one that holds."""

    claim: Side
    known: Side
    judgement: Judgement


@dataclass(frozen=True, slots=True)
class BrokenLink:
    """A reference that leads nowhere, out of the root, or to where a document used to be."""

    path: str
    line: int
    target: str
    problem: str


@dataclass(frozen=True, slots=True)
class Checked:
    """What was looked at and what was found."""

    conflicts: tuple[Conflict, ...] = ()
    broken: tuple[BrokenLink, ...] = ()
    pairs: int = 0
    links: int = 0
    notes: tuple[str, ...] = ()

    @property
    def ok(self) -> bool:
        return not self.conflicts and not any(one.problem != "moved" for one in self.broken)


# --- a change against the specs that hold --------------------------------------------------------------------------


def check_change(
    change: str, base: Path, judge: Judge, *, progress: Callable[[int, int], None] = lambda done, total: None
) -> Checked:
    """Hold the ADDED and MODIFIED requirements of a change against the canonical specs of the same name."""
    folder, home = _find_change(change, base)
    deltas = sorted(path for path in (folder / "specs").rglob("*.md") if path.is_file())
    conflicts: list[Conflict] = []
    notes: list[str] = []
    pairs = 0
    for number, delta in enumerate(deltas, start=1):
        canonical = home / "specs" / delta.relative_to(folder / "specs")
        progress(number, len(deltas))
        try:
            claims = read_requirements(_read_inside(delta, base))
            known = read_requirements(_read_inside(canonical, base)) if canonical.is_file() else []
        except Unreadable as trouble:
            notes.append(f"{_shown(delta, base)}: {trouble.reason}")
            continue
        if not canonical.is_file():
            notes.append(f"{_shown(delta, base)}: a new spec, nothing to hold it against")
        for one, other in _pair_requirements(claims, known):
            pairs += 1
            judgement = _judge_requirements(one, other, judge)
            if judgement.level != "allow":
                conflicts.append(
                    Conflict(_side(one, _shown(delta, base)), _side(other, _shown(canonical, base)), judgement)
                )
    return Checked(tuple(_worst_first(conflicts)), pairs=pairs, notes=tuple(notes))


def _find_change(given: str, base: Path) -> tuple[Path, Path]:
    """The directory of a change and the directory whose `specs/` it changes. Both lie in the project."""
    tried = [Path(given), base / given, *(base / home / "changes" / given for home in _SPEC_HOMES)]
    for folder in tried:
        if _is_inside(folder, base) and os.path.isdir(
            folder / "specs"
        ):  # False, not an error, for a name no file can have
            resolved = Path(os.path.realpath(folder))
            above = [one for one in resolved.parents if one.is_relative_to(base)]
            home = next((one.parent for one in above[:-1] if one.name == "changes"), resolved.parent)
            return resolved, home if home.is_relative_to(base) else base
    if any(_is_inside(folder, base) for folder in tried[:2]):
        raise ChangeNotFound(given)
    raise OutsideProject(given, str(base))


def _is_inside(path: Path, base: Path) -> bool:
    """Whether a path, all links followed, stays in the project: what is read is also shown."""
    try:
        return Path(os.path.realpath(path)).is_relative_to(base)
    except ValueError:  # a name no file can have
        return True


def _read_inside(file: Path, base: Path) -> str:
    if not _is_inside(file, base):
        raise Unreadable("a link out of the project", lasting=True)
    return read_text(file)


def changes_under_way(base: Path) -> list[str]:
    """The changes of a project that are not archived yet."""
    folders = [folder for home in _SPEC_HOMES for folder in sorted((base / home / "changes").glob("*"))]
    return [str(folder) for folder in folders if folder.name != "archive" and (folder / "specs").is_dir()]


def _pair_requirements(
    claims: Sequence[Requirement], known: Sequence[Requirement]
) -> Iterator[tuple[Requirement, Requirement]]:
    """Each new statement with each that will still hold: what is removed, or replaced by the claim itself, will not."""
    leaving = {_key(claim.name) for claim in claims if claim.operation in ("removed", "modified", "renamed")}
    for claim in claims:
        if claim.operation in ("removed", "renamed"):
            continue
        for other in known:
            if not other.name or _key(other.name) not in leaving:
                yield claim, other


def _key(name: str) -> str:
    return " ".join(name.casefold().split())


def _judge_requirements(claim: Requirement, known: Requirement, judge: Judge) -> Judgement:
    """What the judge says; a second requirement of the same name is a conflict whatever it says."""
    judgement = judge.judge(claim.text or claim.name, known.text or known.name)
    if claim.name and _key(claim.name) == _key(known.name):
        return Judgement(1.0, "reject", ("added under a name that is taken", *judgement.reasons))
    return judgement


def _side(one: Requirement, path: str) -> Side:
    return Side(path, one.line, one.name, one.text)


# --- any documents against each other ------------------------------------------------------------------------------


def check_documents(paths: Sequence[str], base: Path, judge: Judge) -> Checked:
    """Hold what some documents state against what the others state, each pair of documents once."""
    stated: list[tuple[str, list[Side]]] = []
    notes: list[str] = []
    for path in paths:
        file = base / path if not Path(path).is_absolute() else Path(path)
        if not _is_inside(file, base):
            raise OutsideProject(path, str(base))
        if not file.is_file():
            raise DocumentNotFound(path)
        try:
            found = normative_sentences(parse(read_text(file)))
        except Unreadable as trouble:
            notes.append(f"{path}: {trouble.reason}")
            continue
        stated.append((path, [Side(path, line, "", sentence) for sentence, line in found]))
    conflicts: list[Conflict] = []
    pairs = 0
    for place, (_, claims) in enumerate(stated):
        for _, known in stated[place + 1 :]:
            if pairs + len(claims) * len(known) > _MAX_PAIRS:
                notes.append(f"more than {_MAX_PAIRS:,} pairs of sentences: the rest was not compared")
                return Checked(tuple(_worst_first(conflicts)), pairs=pairs, notes=tuple(notes))
            pairs += len(claims) * len(known)
            conflicts += [
                Conflict(claim, other, judgement)
                for claim in claims
                for other in known
                if (judgement := judge.judge(claim.text, other.text)).level != "allow"
            ]
    return Checked(tuple(_worst_first(conflicts)), pairs=pairs, notes=tuple(notes))


def _worst_first(conflicts: Sequence[Conflict]) -> list[Conflict]:
    return sorted(
        conflicts,
        key=lambda conflict: (
            -conflict.judgement.score,
            conflict.claim.path,
            conflict.claim.line,
            conflict.known.path,
            conflict.known.line,
        ),
    )


# --- links ---------------------------------------------------------------------------------------------------------


def check_links(room: DocumentsContext, base: Path, specs: str) -> Checked:
    """The references of all documents that lead nowhere."""
    documents = [one for one in room.documents.every() if one.state == "live"]
    by_id = {document.id: document for document in documents}
    catalogue = make_catalogue(documents, specs)
    links = [link for link in room.documents.links() if link.source in by_id]
    broken: list[BrokenLink] = []
    for link in links:
        reference, source = as_reference(link), by_id[link.source].path
        there = {place: os.path.exists(base / place) for place in file_candidates(reference, source)}
        fate = resolve_all([reference], source, catalogue, exists=there)[0]
        if fate.fate == "broken":
            broken.append(BrokenLink(source, link.line, link.target, "leads nowhere"))
        elif fate.fate == "outside":
            broken.append(BrokenLink(source, link.line, link.target, "leads out of the root"))
        elif fate.fate == "moved":
            broken.append(BrokenLink(source, link.line, link.target, "moved"))
    return Checked(broken=tuple(sorted(broken, key=_by_place)), links=len(links))


def _by_place(one: BrokenLink) -> tuple[str, int, str]:
    return one.path, one.line, one.target


def _shown(file: Path, base: Path) -> str:
    real = Path(os.path.realpath(file))
    return real.relative_to(base).as_posix() if real.is_relative_to(base) else real.as_posix()


def find_document(given: str, base: Path, room: DocumentsContext) -> Document:
    """The document meant by a path: as documents are named, or as the shell names the file."""
    if "\0" in given:
        raise DocumentNotFound(given)  # no file has such a name, and the system will not look for one
    for path in (given, _shown(Path(given), base)):
        document = room.documents.by_path(path.removeprefix("./"))
        if document is not None:
            return document
    raise DocumentNotFound(given)


# --- requirements as spec files state them --------------------------------------------------------------------------

_OPERATION = re.compile(r"^(added|modified|removed|renamed)\b", re.IGNORECASE)
_REQUIREMENT = re.compile(r"^requirement\s*:\s*(.*)$", re.IGNORECASE)
_SCENARIO = re.compile(r"^\s{0,3}#{4,6}\s")
_NORMATIVE = re.compile(
    r"\b(?:must|shall|should|may|can|cannot|will|never|always|only|required?s?|forbid(?:den|s)?|allow(?:ed|s)?|"
    r"at least|at most|no more than|default(?:s)?|\d)",
    re.IGNORECASE,
)
MAX_SENTENCE = 600  # characters; longer ones are tables or code


@dataclass(frozen=True, slots=True)
class Requirement:
    """One requirement: its name, what it says, where it stands, and what a delta does to it."""

    name: str
    text: str
    line: int  # counted from 1
    operation: str = ""  # added, modified, removed, renamed; empty in a canonical spec


def read_requirements(text: str) -> list[Requirement]:
    """The requirements of a spec; without requirement headings, its normative sentences.

    A delta spec lists requirements under `ADDED`, `MODIFIED`, `REMOVED` and `RENAMED` headings; a canonical spec lists
    them.
    """
    parsed = parse(text)
    found = list(_read_headed(parsed))
    return found or [Requirement("", sentence, line) for sentence, line in normative_sentences(parsed)]


def _read_headed(parsed: Parsed) -> Iterator[Requirement]:
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


def normative_sentences(parsed: Parsed) -> list[tuple[str, int]]:
    """The sentences of a document that state what must, may or does hold, each with its line."""
    found: list[tuple[str, int]] = []
    for block in parsed.blocks:
        if block.whole:
            continue
        text = parsed.text[parsed.lines[block.start] : parsed.lines[block.end]]
        for sentence in split_sentences(text):
            if _NORMATIVE.search(sentence) and len(sentence) <= MAX_SENTENCE:
                at = text.find(sentence.split()[0])
                found.append((sentence, block.start + 1 + text.count("\n", 0, max(0, at))))
    return found
