"""What travels of a memory, as JSON; what must stay at home; and the shadow of what both sides had in common last.

A shadow holds digests and numbers, no words: enough to tell who changed what since, and nothing to erase. Pure.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from functools import lru_cache
from typing import Any, TypeAlias

from recollect.core.digest import blake2b
from recollect.core.fields import FIELDS
from recollect.core.forms import iso, link_json, moment, whole
from recollect.core.kinds import Kind
from recollect.core.links import Link
from recollect.core.records import Memory
from recollect.core.scope import OPEN, Status, Visibility
from recollect.privacy.values import rules_in

State: TypeAlias = dict[str, Any]  # the fields that travel, spelt as the log spells them, and `links`

# What each copy works out, counts or keeps by itself.
_AT_HOME = frozenset({"id", "project", "fingerprint", "embedding_model", "revision", "entities"})
_NEVER_TOLD = frozenset({"user", "flagged"})  # memories that have them stay at home
TRAVELLING = frozenset(one.name for one in FIELDS if one.column) - _AT_HOME - _NEVER_TOLD | {"links"}
LABELS = tuple(one.name for one in FIELDS if one.form == "labels" and one.name not in _AT_HOME)
USAGE = frozenset(one.name for one in FIELDS if one.usage)
CLOCKED = frozenset({"created_at", "updated_at", "accessed_at"})  # by some machine's clock; no change by itself
NUMBERS = ("access_count", "streak", "confidence")
NEW = {"access_count": 0, "streak": 0, "confidence": 0.0}
LINKS, ATTRIBUTES = "links", "attributes"
WITHHELD = "withheld"  # the attribute of a memory whose words stayed on another machine
# Every copy has its own: what was said here, passages of files, and what was made of all that is known here.
_MADE_HERE = {Kind.EPISODE: "conversation", Kind.PASSAGE: "passage", Kind.REFLECTION: "reflection"}
_encode = json.JSONEncoder(ensure_ascii=False, sort_keys=True, separators=(",", ":")).encode


def travelling_state(memory: Memory, links: Iterable[Link]) -> State:
    """A memory with its links as it travels."""
    told = whole(memory)
    created = told["created_at"]
    state = {"updated_at": created, "accessed_at": created}
    state |= {name: value for name, value in told.items() if name not in _AT_HOME}
    if linked := sorted((link_json(link) for link in links), key=link_key):
        state[LINKS] = linked
    return state


def stays_home(memory: Memory) -> str:
    """Why a memory never leaves this machine; empty when it may."""
    if memory.visibility is Visibility.PERSONAL:
        return "personal"
    if memory.flagged:
        return "held a secret"
    if memory.user is not None:
        return "belongs to one user"
    return _MADE_HERE.get(Kind(memory.kind), "") if memory.kind in _MADE_HERE else ""


def is_private(memory: Memory) -> bool:
    """Must nothing that is drawn from it leave, either?"""
    return memory.visibility is Visibility.PERSONAL or memory.flagged or memory.user is not None


def is_homely(kind: str) -> bool:
    """Is it of a kind that never travels?"""
    return kind in _MADE_HERE


def secret_in(state: State) -> str:
    """The rule that finds a secret in what is about to cross the edge; empty when none does."""
    for name in _WORDED & state.keys():
        value = state[name]
        for part in value if name in LABELS else (value,):
            found = _first_rule(part) if isinstance(part, str) and len(part) <= _SHORT else rules_in({name: part})
            if found:
                return found if isinstance(found, str) else found[0]
    return next((rule for link in state.get(LINKS, ()) if (rule := _first_rule(str(link.get("file", ""))))), "")


_SHORT = 200  # characters: texts that come again and again


@lru_cache(maxsize=4_096)
def _first_rule(text: str) -> str:
    return next(iter(rules_in(text)), "")


# Whatever people and agents may word.
_WORDED = (
    frozenset(
        one.name for one in FIELDS if one.form in ("text", "name", "labels", "payload", "object", "work_unit", "span")
    )
    - {"superseded_by"}
    - _AT_HOME
)


def withhold(id: str, state: State, key: str) -> State:
    """A memory as it travels in the mode `vectors`: what it is and when, none of its words. A digest under `key`, which
    no server knows, tells that the words have changed."""
    kept = {name: state[name] for name in sorted(_SHOWN & state.keys())}
    mark = blake2b(str(state["content"]).encode("utf-8", "surrogatepass"), key=key.encode()[:64], digest_size=8)
    return {**kept, "content": f"Kept on another machine ({id}).", ATTRIBUTES: {WITHHELD: mark.hexdigest()}}


_SHOWN = CLOCKED | {"kind", "source", "scope", "visibility", "status", "confidence"}


def clamp_clock(state: State, now: datetime) -> State:
    """A state without moments that another machine's clock put later than now."""
    late = {name for name in CLOCKED & state.keys() if moment(state[name]) > now}
    return {**state, **dict.fromkeys(late, iso(now))} if late else state


def is_open(state: State) -> bool:
    return Status(state["status"]) in OPEN


def link_key(link: Mapping[str, Any]) -> str:
    """What tells a link of a memory from its others."""
    is_file = "target" not in link
    return f"{link['relation']}\0{link['file'] if is_file else link['target']}\0{int(is_file)}"


def digest_value(value: Any) -> str:
    return str(blake2b(_encode(value).encode("utf-8", "surrogatepass"), digest_size=6).hexdigest())


@dataclass(frozen=True, slots=True)
class Shadow:
    """What a state was, by digests: single values, the items of lists, attributes; numbers as they are."""

    values: Mapping[str, str] = field(default_factory=dict)
    items: Mapping[str, list[str]] = field(default_factory=dict)
    attributes: Mapping[str, str] = field(default_factory=dict)
    numbers: Mapping[str, float] = field(default_factory=dict)

    @classmethod
    def of(cls, state: State) -> Shadow:
        lists = {name: [digest_value(one) for one in state[name]] for name in LABELS if name in state}
        if LINKS in state:
            lists[LINKS] = [digest_value(link_key(one)) for one in state[LINKS]]
        return cls(
            {name: digest_value(value) for name, value in state.items() if name not in _APART},
            lists,
            {digest_value(key): digest_value(value) for key, value in state.get(ATTRIBUTES, {}).items()},
            {name: state.get(name, NEW[name]) for name in NUMBERS},
        )

    @classmethod
    def read(cls, text: str) -> Shadow:
        return cls(*json.loads(text))

    @property
    def text(self) -> str:
        return _encode([self.values, self.items, self.attributes, self.numbers])

    def differs(self, name: str, state: State) -> bool:
        """Has a single value changed since? What is as it is by default is not told."""
        return self.values.get(name) != (digest_value(state[name]) if name in state else None)

    def matches(self, state: State, *, usage: bool) -> bool:
        """Is a state what this is the shadow of? How often it was read counts only with `usage`."""
        now = Shadow.of(state)
        if (self.values, self.attributes) != (now.values, now.attributes):
            return False
        if any(set(self.items.get(name, ())) != set(now.items.get(name, ())) for name in (*LABELS, LINKS)):
            return False
        counted = NUMBERS if usage else ("confidence",)
        return all(self.numbers[name] == now.numbers[name] for name in counted)


_APART = frozenset((*LABELS, *NUMBERS, LINKS, ATTRIBUTES)) | CLOCKED
