"""The changes of one act: every canonical row is written here, together with the entry that can repeat or revert it.

Runs inside the caller's transaction. Knows how rows and entries go together; what changes and why is decided elsewhere.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import TYPE_CHECKING, Any

from recollect.core.fields import FIELDS
from recollect.core.forms import changed, entity_json, iso, link_json, whole
from recollect.core.kinds import Kind
from recollect.core.records import Memory
from recollect.remember.act import ActContext
from recollect.store.store import Store

if TYPE_CHECKING:
    from recollect.core.entities import Entity
    from recollect.core.links import Link
    from recollect.core.log import About, Action, Change
    from recollect.store.log import EntryBody

# Fields that move without being a change of what is remembered. Being read (`usage`) is not even logged by itself.
_QUIET = frozenset({"updated_at", "revision", *(field.name for field in FIELDS if field.usage)})
_USAGE = frozenset(field.name for field in FIELDS if field.usage)


class Changes:
    """Collects the entries of one act while its rows are written; `write` chains them to the log."""

    def __init__(self, store: Store, act: ActContext) -> None:
        self._store = store
        self._act = act
        self._entries: list[Change] = []
        self._retold: dict[str, None] = {}  # documents whose entries were emptied: the rest is written again

    def note(
        self,
        action: Action,
        subject: str | None,
        why: str = "",
        before: Mapping[str, Any] | None = None,
        after: Mapping[str, Any] | None = None,
        about: About = "memory",
        replay: Mapping[str, Any] | None = None,
    ) -> None:
        """An entry whose rows somebody else writes, or that is about none."""
        from recollect.core.log import Change  # most processes only count accesses, and that is not logged

        self._entries.append(Change(action, subject, why, before, after, about, replay))

    def write(self, *, undoes: str | None = None) -> None:
        """Put what happened into the log."""
        act = self._act
        for document in self._retold:
            left = [whole(memory) for memory in self._store.memories.of_document(document)]
            self.note("snapshot", document, about="passages", replay={"put": left})
        if self._entries:
            self._store.log.append(
                self._entries, act=act.act, actor=act.actor, at=act.at, undoes=undoes, door=act.door.name
            )  # fmt: skip
        self._entries, self._retold = [], {}

    # --- memories -------------------------------------------------------------------------------------------------

    def update(self, action: Action, before: Memory, after: Memory, why: str = "") -> None:
        """Replace a memory by what it became."""
        self._store.memories.update(before, after)
        if (before.kind, before.event_at) != (after.kind, after.event_at):
            self._settle_session(before, after)
        self.updated(action, before, after, why)

    def updated(self, action: Action, before: Memory, after: Memory, why: str = "") -> None:
        """Note what a memory became, whose row is written elsewhere. Being read alone is no change."""
        was, now = changed(before, after)
        if set(now) <= _USAGE:
            return
        self.note(
            action,
            before.id,
            why,
            {name: value for name, value in was.items() if name not in _QUIET},
            {name: value for name, value in now.items() if name not in _QUIET},
            replay={name: value for name, value in now.items() if name in _QUIET},
        )

    def rewrite(self, action: Action, before: Memory, after: Memory, why: str = "") -> None:
        """Replace a memory whose earlier words must leave the log, too: the entry tells it whole."""
        self._store.memories.update(before, after)
        self._erase_words(after)
        self.note(action, after.id, why, after=whole(after))

    def retell(self, action: Action, memory: Memory, why: str = "") -> None:
        """Tell a memory whole once more, because an entry that told of it was emptied. A passage is told with its
        document."""
        if (document := _document_of(memory)) is not None:
            self.retell_passages(document)
        else:
            self.note(action, memory.id, why, after=whole(memory))

    def retell_passages(self, document: str) -> None:
        """Tell the passages of a document once more."""
        self._retold[document] = None

    def remove(self, action: Action, memories: Sequence[Memory], why: str = "", *, erase: bool = False) -> None:
        """Delete some memories with their links; when `erase`, with all that the log says of them."""
        self._delete(memories)
        if erase:
            self._store.log.erase_bodies([memory.id for memory in memories])
            for document in dict.fromkeys(filter(None, map(_document_of, memories))):
                self._store.log.erase_words(document)
                self._retold[document] = None
        for memory in memories:
            self.note(action, memory.id, why)

    def replace_passages(
        self,
        action: Action,
        document: str,
        new: Sequence[Memory],
        moved: Sequence[tuple[Memory, Memory]],
        gone: Sequence[Memory],
        counts: Mapping[str, int],
    ) -> None:
        """Change and delete the passages of one document, and tell it in one entry; the caller inserts the new ones."""
        self._delete(gone)
        for before, after in moved:
            self._store.memories.update(before, after)
        if not (new or moved or gone):
            return
        told = {
            "put": [whole(memory) for memory in new],
            "set": {after.id: changed(before, after)[1] for before, after in moved},
            "drop": [memory.id for memory in gone],
        }
        replay = {name: value for name, value in told.items() if value}
        self.note(action, document, document, after=counts, about="passages", replay=replay)

    def _delete(self, memories: Sequence[Memory]) -> None:
        self._store.memories.delete(memories)
        self._store.links.forget([memory.id for memory in memories])
        self._settle_session(*memories)

    def _settle_session(self, *memories: Memory) -> None:
        """Sessions are not logged: what is known of one follows from the episodes it has."""
        for session in {memory.session for memory in memories if memory.kind == Kind.EPISODE}:
            if session is not None:
                self._store.sessions.settle(session)

    def _erase_words(self, memory: Memory) -> None:
        """A passage is told of in the entries of its document, too."""
        self._store.log.erase_words(memory.id)
        if (document := _document_of(memory)) is not None:
            self._store.log.erase_words(document)
            self._retold[document] = None

    # --- links, entities, tombstones --------------------------------------------------------------------------------

    def put_links(self, action: Action, links: Sequence[Link], why: str = "") -> None:
        """Add links, or give existing ones a new confidence."""
        for link in links:
            known = self._store.links.find(link)
            before = None if known is None else link_json(known)
            self.note(action, link.source, why, before, link_json(link), about="link")
        self._store.links.put(links)

    def remove_link(self, action: Action, link: Link) -> None:
        self._store.links.remove(link)
        self.note(action, link.source, before=link_json(link), about="link")

    def erase_link(self, link: Link) -> None:
        """Delete a link whose entries are emptied: nothing tells that it was."""
        self._store.links.remove(link)

    def put_entities(self, action: Action, entities: Sequence[Entity]) -> None:
        """Add entities, or replace what is known of them. Each is told whole: what it was, its last entry says. A name
        that holds a secret is kept without it."""
        entities = [_screened(entity) for entity in entities]
        for entity in entities:
            self.note(action, entity.id, after=entity_json(entity), about="entity")
        self._store.entities.put(entities)

    def drop_unmentioned(self, action: Action, entities: Sequence[str]) -> None:
        """Remove entities that nothing mentions any more: a forgotten name must not linger, in the log neither."""
        gone = self._store.entities.drop_unmentioned(entities)
        self._store.log.erase_bodies(gone)
        for id in gone:
            self.note(action, id, about="entity")

    def remove_entities(self, action: Action, ids: Sequence[str]) -> None:
        """Delete entities with all that the log says of them, whatever is known of them."""
        self._store.entities.remove(ids)
        self._store.log.erase_bodies(ids)
        for id in ids:
            self.note(action, id, about="entity")

    def empty_entries(self, action: Action, entries: Sequence[EntryBody], why: str = "") -> None:
        """Empty some entries of this project, and tell once more, as it is now, what they were about."""
        subjects: dict[str, dict[str, None]] = {"memory": {}, "entity": {}, "passages": {}}
        self._store.log.erase([entry.number for entry in entries])
        for entry in entries:
            if entry.subject is not None:
                subjects.setdefault("memory" if entry.about == "link" else entry.about, {})[entry.subject] = None
        for document in subjects["passages"]:
            self.retell_passages(document)
        for memory in self._store.memories.get_many(list(subjects["memory"])).memories:
            self.retell(action, memory, why)
            for link in self._store.links.from_(memory.id):
                self.put_links(action, [link])
        known = {entity.id for entity in self._store.entities.group(list(subjects["entity"]))}
        self.put_entities(action, [self._store.entities.get(id) for id in subjects["entity"] if id in known])

    def bury(self, action: Action, keys: Sequence[str], reason: str, *, at: datetime | None = None) -> None:
        """Put tombstones on some statements."""
        at = at or self._act.at
        known = self._store.tombstones.find(keys)
        self._store.tombstones.put(keys, reason=reason, at=at)
        for key in keys:
            before = {"reason": known[key].reason, "at": iso(known[key].at)} if key in known else None
            self.note(action, key, before=before, after={"reason": reason, "at": iso(at)}, about="tombstone")

    def lift(self, action: Action, key: str) -> None:
        """Let a statement be said again."""
        known = self._store.tombstones.find([key]).get(key)
        if known is None:
            return
        self._store.tombstones.lift(key)
        self.note(action, key, before={"reason": known.reason, "at": iso(known.at)}, about="tombstone")


def _document_of(memory: Memory) -> str | None:
    """The document a passage was cut from."""
    return None if memory.span is None else memory.span.document


def _screened(entity: Entity) -> Entity:
    from recollect.privacy.values import redact_value  # few processes write entities

    texts = {"name": entity.name, "aliases": entity.aliases, "summary": entity.summary}
    safe = redact_value(texts)
    return entity if safe is texts else entity.having(**safe)
