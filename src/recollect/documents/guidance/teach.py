"""Rules files into memories, again and again: what is new is taught, what was edited supersedes its old words, what is
gone is told and retired only on request, what people rejected stays away. Planning only reads; applying is one act.

A statement is known by the fingerprint of its words, kept on its memory, so that a memory that somebody edited or
confirmed since is still recognised, and a file that only moved its lines changes nothing.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from difflib import SequenceMatcher
from pathlib import Path
from typing import Any

from recollect.core.drafts import Draft
from recollect.core.kinds import Kind
from recollect.core.likeness import jaccard
from recollect.core.records import Memory, Span
from recollect.core.scope import OPEN, Scope, Status
from recollect.core.text import clean, excerpt, fingerprint, words
from recollect.documents.guidance.find import Gathered, Guidance
from recollect.documents.guidance.statements import Statement, classify
from recollect.files.walk import Skipped
from recollect.privacy.scan import redact
from recollect.recall.reader import Reader
from recollect.remember.writer import Writer

ALIKE = 0.6  # likeness from which a vanished statement and a new one are the same line, edited
_SHARED = 0.2  # share of words below which two lines are not even compared
_TAG = "rules"
_MAX_FILES = 8  # paths of one statement that are tied to it
_PATHS = re.compile(r"`([\w.@-]+(?:/[\w.@-]+)*)`")
_INDEX = re.compile(r"^[^()]{1,200}\(([\w./-]+\.md)\)")  # a line of MEMORY.md that only points at another note


@dataclass(frozen=True, slots=True)
class Taught:
    """One statement and what becomes of it."""

    text: str
    kind: str
    file: str
    line: int
    id: str | None = None
    was: str | None = None  # the id of the memory it supersedes
    why: str = ""


@dataclass(slots=True)
class Lesson:
    """What an import does, or would do."""

    files: list[str] = field(default_factory=list)
    added: list[Taught] = field(default_factory=list)
    changed: list[Taught] = field(default_factory=list)
    gone: list[Taught] = field(default_factory=list)
    left_out: list[Taught] = field(default_factory=list)  # rejected or forgotten before
    skipped: list[Skipped] = field(default_factory=list)
    kept: int = 0
    redacted: int = 0  # statements a secret was taken out of
    retired: bool = False
    dry_run: bool = False


@dataclass(frozen=True, slots=True)
class _Wanted:
    """A statement as a memory would hold it."""

    statement: Statement
    guidance: Guidance
    content: str  # without secrets
    digest: str
    secret: bool

    def told(self, kind: str, **fields: Any) -> Taught:
        return Taught(self.content, kind, self.guidance.path, self.statement.first, **fields)


def teach(
    found: Gathered,
    reader: Reader,
    writer: Writer,
    *,
    root: Path,
    retire: bool = False,
    dry_run: bool = False,
) -> Lesson:
    """Bring the memories of some rules files in step with them; with `dry_run` only tell."""
    wanted = _list_statements(found.files)
    lesson = Lesson([file.path for file in found.files], skipped=found.skipped, dry_run=dry_run, retired=retire)
    fresh = _select_new(wanted, reader, lesson)
    gone = _find_vanished(wanted, found.files, reader)
    pairs = _pair_editions(fresh, gone)
    drafts = [_draft(one, pairs.get(one.digest), root) for one in fresh]
    if not dry_run and (drafts or (retire and gone)):
        with writer.transaction():
            receipts = writer.remember(drafts)
            _report(
                fresh, pairs, lesson, [(str(receipt.id), receipt.verdict == "same") for receipt in receipts], drafts
            )
            if retire:
                for old in _left(gone, pairs):
                    writer.expire(old.id)
    else:
        _report(fresh, pairs, lesson, [(None, False)] * len(fresh), drafts)
    lesson.gone = [_as_taught(old) for old in _left(gone, pairs)]
    return lesson


def _list_statements(files: Iterable[Guidance]) -> list[_Wanted]:
    """Every statement once, where it stands first. Lines that only point at a note beside them say nothing."""
    paths = {file.path for file in files}
    wanted: dict[str, _Wanted] = {}
    for guidance in files:
        for statement in guidance.sheet.statements:
            pointer = _INDEX.match(statement.text)
            if pointer and f"{guidance.path.rpartition('/')[0]}/{pointer[1]}".lstrip("/") in paths:
                continue
            hidden = redact(statement.text)
            content = clean(hidden.text)[0]
            if content:
                digest = fingerprint(content)
                one = _Wanted(statement, guidance, content, digest, hidden.text != statement.text)
                wanted.setdefault(digest, one)
    return list(wanted.values())


def _select_new(wanted: Sequence[_Wanted], reader: Reader, lesson: Lesson) -> list[_Wanted]:
    """Those that are to be taught. Known ones are kept, those that people sent away are left out."""
    known = _by_digest(reader.having("rule", [one.digest for one in wanted]))
    tombs = reader.tombstones([one.digest for one in wanted])
    fresh = []
    for one in wanted:
        memories = known.get(one.digest, [])
        if any(memory.status in OPEN for memory in memories):
            lesson.kept += 1
        elif one.digest in tombs:
            lesson.left_out.append(one.told("", why=f"{tombs[one.digest].reason} on {tombs[one.digest].at.date()}"))
        elif closed := next((memory for memory in memories if _was_rejected(memory, reader)), None):
            lesson.left_out.append(one.told(closed.kind, id=closed.id, why=f"{closed.id} is {closed.status}"))
        else:
            lesson.redacted += one.secret
            fresh.append(one)
    return fresh


def _was_rejected(memory: Memory, reader: Reader) -> bool:
    """Did a person close it? What faded, was retired or gave way to a later edition of its line may come back."""
    if memory.status is Status.SUPERSEDED and memory.superseded_by is not None:
        later = reader.get_many([memory.superseded_by]).memories
        return not any("rule" in one.attributes for one in later)
    return memory.status is Status.REJECTED


def _find_vanished(wanted: Sequence[_Wanted], files: Sequence[Guidance], reader: Reader) -> list[Memory]:
    """Open memories of these files whose statement is in none of them any more."""
    here = {one.digest for one in wanted}
    known = reader.having("rule_file", [file.path for file in files])
    return [memory for memory in known if memory.status in OPEN and memory.attributes.get("rule") not in here]


def _pair_editions(fresh: Sequence[_Wanted], gone: Sequence[Memory]) -> dict[str, Memory]:
    """Which vanished statement each new one of the same file is an edition of, the most alike first, each once."""
    likely = sorted(
        (
            (-likeness, place, other, one, old)
            for place, one in enumerate(fresh)
            for other, old in enumerate(gone)
            if old.attributes.get("rule_file") == one.guidance.path
            and (likeness := _likeness(one.content, old.content)) >= ALIKE
        ),
        key=lambda pair: pair[:3],
    )
    pairs: dict[str, Memory] = {}
    used: set[str] = set()
    for _, _, _, one, old in likely:
        if one.digest not in pairs and old.id not in used:
            pairs[one.digest] = old
            used.add(old.id)
    return pairs


def _likeness(one: str, other: str) -> float:
    mine, theirs = set(words(one)), set(words(other))
    if jaccard(mine, theirs) < _SHARED:
        return 0.0
    return SequenceMatcher(None, words(one)[:400], words(other)[:400], autojunk=False).ratio()


def _left(gone: Sequence[Memory], pairs: dict[str, Memory]) -> list[Memory]:
    paired = {old.id for old in pairs.values()}
    return [old for old in gone if old.id not in paired]


def _report(
    fresh: Sequence[_Wanted],
    pairs: dict[str, Memory],
    lesson: Lesson,
    results: Sequence[tuple[str | None, bool]],
    drafts: Sequence[Draft],
) -> None:
    for one, (id, same), draft in zip(fresh, results, drafts, strict=True):
        old = pairs.get(one.digest)
        if same:  # somebody taught the very same before
            lesson.kept += 1
        elif old is not None:
            lesson.changed.append(one.told(draft.kind, id=id, was=old.id))
        else:
            lesson.added.append(one.told(draft.kind, id=id))


def _as_taught(memory: Memory) -> Taught:
    lines = memory.attributes.get("lines") or [0]
    return Taught(memory.content, memory.kind, str(memory.attributes.get("rule_file", "")), int(lines[0]), memory.id)


def _draft(one: _Wanted, old: Memory | None, root: Path) -> Draft:
    statement, guidance = one.statement, one.guidance
    kind = classify(statement, declared=guidance.declared, module=bool(guidance.module))
    where = " › ".join([guidance.path, *statement.context])
    more = {"globs": list(guidance.globs)} if guidance.globs else {}
    return Draft(
        statement.text,
        kind=kind,
        source=guidance.source_of(statement.headings),
        scope=Scope.MODULE if guidance.module else Scope.GLOBAL,
        visibility=guidance.visibility,
        tags=(_TAG,),
        files=_files(statement.text, guidance, root),
        modules=(guidance.module,) if guidance.module else (),
        span=Span("prose", statement.first, statement.last, excerpt(where, 400)),
        payload=_recipe(statement) if kind is Kind.WORKFLOW_RECIPE and statement.steps else None,
        attributes={
            "rule": one.digest,
            "rule_file": guidance.path,
            "headings": list(statement.headings),
            "lines": [statement.first, statement.last],
            **more,
        },
        supersedes=None if old is None else old.id,
        why=f"{guidance.path}, line {statement.first}",
        skip_conflict_check=True,  # a file's own rules stand beside each other: what they mean is its author's business
    )


def _recipe(statement: Statement) -> dict[str, object]:
    pattern = excerpt(statement.text.split("\n", 1)[0].rstrip(":"), 200)
    return {"task_pattern": pattern, "steps": [{"description": step} for step in statement.steps]}


def _files(text: str, guidance: Guidance, root: Path) -> tuple[str, ...]:
    """Files of the project that the statement names, so that it is at hand when one of them is touched."""
    found: dict[str, None] = {}
    for name in dict.fromkeys(_PATHS.findall(text)):
        for path in (name, f"{guidance.module}/{name}" if guidance.module else name):
            if "." in path.rpartition("/")[2] and len(found) < _MAX_FILES and (root / path).is_file():
                found[path] = None
                break
    return tuple(found)


def _by_digest(memories: Iterable[Memory]) -> dict[str, list[Memory]]:
    found: dict[str, list[Memory]] = {}
    for memory in memories:
        found.setdefault(str(memory.attributes["rule"]), []).append(memory)
    return found
