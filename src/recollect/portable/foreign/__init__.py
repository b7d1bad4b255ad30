"""Memories of other programs: which reader a file is for, and how what it reads comes in.

Each memory is known by its name there, so importing again adds what is new, supersedes what was reworded there and
leaves alone what was edited here. Nothing becomes a person's word unless a person says that it is theirs.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any

from recollect.core.doors import IMPORT
from recollect.core.drafts import Draft
from recollect.core.errors import InvalidField, RecollectError, UnknownChoice
from recollect.core.query import read_user
from recollect.core.scope import OPEN, Source
from recollect.core.text import clean, fingerprint
from recollect.portable.foreign.agents import ClaudeMemoriesReader, CodexReader, LangGraphReader, LettaReader
from recollect.portable.foreign.base import ForeignMemory, ForeignReader, LeftOut
from recollect.portable.foreign.basic_memory import BasicMemoryReader
from recollect.portable.foreign.claude_mem import ClaudeMemReader
from recollect.portable.foreign.mem0 import Mem0Reader, OpenMemoryReader
from recollect.portable.foreign.table import TableReader
from recollect.portable.markdown import is_vault, read_vault
from recollect.portable.take_in import ImportReport, in_order, take_vault
from recollect.privacy.scan import redact
from recollect.remember.agents import is_persons
from recollect.remember.erased_here import ErasedHere
from recollect.remember.merge import MergedItem
from recollect.store.sqlite.foreign import ForeignDatabase, is_sqlite
from recollect.store.tombstones import tombstone_key

if TYPE_CHECKING:
    from recollect.core.records import Memory
    from recollect.remember.writer import Writer
    from recollect.store.store import Store

MARKDOWN = "markdown"
_BATCH = 500
_DETAILS = 200
IMPORTED = "imported"  # the attribute and facet that name a memory of another program


def foreign_readers(mapping: Mapping[str, str] | None = None) -> tuple[ForeignReader, ...]:
    """Every reader there is; those that are surest of what they see first."""
    return (
        ClaudeMemReader(),
        CodexReader(),
        LangGraphReader(),
        OpenMemoryReader(),
        Mem0Reader(),
        LettaReader(),
        ClaudeMemoriesReader(),
        BasicMemoryReader(),
        TableReader(mapping),
    )


def find_reader(path: Path, format: str, mapping: Mapping[str, str] | None) -> ForeignReader:
    """The reader that was named, or the first that knows what it sees."""
    known = {reader.name: reader for reader in foreign_readers(mapping)}
    if format != "auto":
        if format not in known:
            raise UnknownChoice("format", format, [*known, MARKDOWN, "recollect"])
        return known[format]
    if mapping:
        return known["table"]
    for reader in known.values():
        if reader.recognises(path):
            return reader
    if path.is_file() and is_sqlite(path):
        with ForeignDatabase(path) as found:
            if found.has("memories", "fingerprint", "revision", "checksum"):
                hint = f"Bring it in with `recollect migrate {path} TARGET`, or look at it with --store."
                raise InvalidField(str(path), "it is a store of Recollect, not an export", hint=hint)
    raise InvalidField(
        str(path),
        "nothing here knows how to read it",
        hint=f"Name it with --format: {', '.join(known)}. Chats and rules files are imported, too: see --help.",
    )


def recognise(path: Path) -> str | None:
    """The name of what a file or folder is, as far as it can be told; a plain table is not told from a chat."""
    if is_vault(path):
        return MARKDOWN
    return next((one.name for one in foreign_readers() if one.name != "table" and one.recognises(path)), None)


def import_foreign(
    path: Path,
    store: Store,
    writer: Writer,
    *,
    format: str = "auto",
    mapping: Mapping[str, str] | None = None,
    user: str | None = None,
    trust: bool = False,
    dry_run: bool = False,
    progress: Callable[[int, int], None] = lambda done, total: None,
) -> ImportReport:
    """Take in what another program remembered. `trust`: a person says that these are their own words. All of it is read
    once before anything is taken in: a file that breaks off in the middle leaves nothing behind."""
    if format == MARKDOWN or (format == "auto" and is_vault(path)):
        records = read_vault(path, writer.now())
        return take_vault(records, store, writer.act, trusted=trust, dry_run=dry_run, progress=progress)
    reader = find_reader(path, format, mapping)
    taking = _Taking(store, writer, reader.name, user=read_user(user), trust=trust, dry_run=dry_run)
    left_out, done = LeftOut(), 0
    if not dry_run:
        for _ in reader.read(path, LeftOut()):
            pass
    found = reader.read(path, left_out)
    while batch := list(islice(found, _BATCH)):
        taking.take(batch)
        done += len(batch)
        progress(done, 0)
    return taking.report(left_out)


class _Taking:
    """One import from another program."""

    def __init__(
        self, store: Store, writer: Writer, source: str, *, user: str | None, trust: bool, dry_run: bool
    ) -> None:
        self._store = store
        self._writer = writer if trust else writer.through(IMPORT)
        self._source = source
        self._user = user
        self._trust = trust
        self._dry_run = dry_run
        self._counts: Counter[str] = Counter()
        self._items: list[MergedItem] = []
        self._users: Counter[str] = Counter()
        self._redacted = 0
        self._seen: set[str] = set()
        self._erased = ErasedHere(store)

    def take(self, batch: Sequence[ForeignMemory]) -> None:
        """Take some in: all of them in one transaction, but those that are refused."""
        named = {f"{self._source}:{one.id}": one for one in batch}
        known = self._known(list(named))
        drafts = [
            (one, draft)
            for name, one in named.items()
            if (draft := self._judge(name, one, known.get(name))) is not None
        ]
        self._counts["same"] += len(batch) - len(named)  # the same name twice: the last one counts
        if drafts and not self._dry_run:
            self._remember(drafts)

    def _known(self, names: list[str]) -> dict[str, Memory]:
        """What came from there before, by its name there: the newest that is open, else the newest."""
        found: dict[str, Memory] = {}
        for memory in self._store.memories.having(IMPORTED, names):
            name = str(memory.attributes[IMPORTED])
            if name not in found or memory.status in OPEN:
                found[name] = memory
        return found

    def _judge(self, name: str, one: ForeignMemory, known: Memory | None) -> Draft | None:
        try:
            draft = self._draft(name, one)
            content = clean(redact(draft.content).text)[0]
            print = fingerprint(content)
            self._store.kinds.rule(draft.kind)
            read_user(draft.user)
        except RecollectError as error:
            self._tell("invalid", one, str(error))
            return None
        self._redacted += content != clean(draft.content)[0]
        if known is not None and known.fingerprint == print:
            self._tell("same", one, "")
            return None
        stones = self._store.tombstones.find([print, tombstone_key(print, draft.user)])
        if stones:
            self._tell("refused", one, f"it was {next(iter(stones.values())).reason} here")
            return None
        if self._erased.holds(draft.created_at, draft.session, draft.user, [draft.content, list(draft.tags)]):
            self._tell("refused", one, "it was erased here")
            return None
        if known is not None and known.status in OPEN and (is_persons(known) or known.revision > 1) and not self._trust:
            self._tell("conflicting", one, f"{known.id} was changed here since")
            return None
        if draft.user:
            self._users[draft.user] += 1
        if known is not None and known.status in OPEN:
            self._tell("changed", one, f"supersedes {known.id}")
            return replace(draft, supersedes=known.id)
        twin = self._store.memories.by_fingerprint([print]).get(print, [])
        is_known = any(memory.kind == draft.kind and memory.user == draft.user for memory in twin)
        self._tell("same" if is_known or print in self._seen else "new", one, "")
        self._seen.add(print)
        return None if is_known else draft

    def _draft(self, name: str, one: ForeignMemory) -> Draft:
        now = self._writer.now()
        attributes: dict[str, Any] = {**one.attributes, IMPORTED: name}
        return Draft(
            one.content,
            kind=one.kind,
            source=Source.USER_TAUGHT if self._trust else Source.AGENT_EXPLICIT,
            created_at=None if one.created_at is None else min(one.created_at, now),
            event_at=one.event_at,
            tags=tuple(one.tags),
            files=tuple(one.files),
            user=self._user or one.user,
            session=one.session,
            attributes=attributes,
            why=f"imported from {self._source}",
            skip_conflict_check=True,
        )

    def _remember(self, drafts: Sequence[tuple[ForeignMemory, Draft]]) -> None:
        try:
            self._writer.remember([draft for _, draft in drafts])
        except RecollectError:  # one of them is to blame: find out which, and take the others
            for one, draft in drafts:
                try:
                    self._writer.remember([draft])
                except RecollectError as error:
                    self._counts["changed" if draft.supersedes else "new"] -= 1
                    self._tell("invalid", one, str(error))

    def _tell(self, verdict: Any, one: ForeignMemory, why: str) -> None:
        self._counts[verdict] += 1
        if verdict in ("changed", "conflicting", "refused", "invalid") and len(self._items) < _DETAILS:
            self._items.append(MergedItem(verdict, "memory", one.id[:80], why[:300], one.place))

    def report(self, left_out: Mapping[str, int]) -> ImportReport:
        notes = [
            f"{count:,} belong to user {user!r}: recall them with --user {user}"
            for user, count in islice(sorted(self._users.items()), 5)
        ]
        return ImportReport(
            source=self._source,
            counts=in_order(self._counts),
            items=tuple(self._items),
            redacted=self._redacted,
            left_out=dict(left_out),
            trusted=self._trust,
            dry_run=self._dry_run,
            notes=tuple(notes),
        )
