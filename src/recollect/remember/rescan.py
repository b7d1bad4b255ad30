"""Looking for secrets in what is already stored: rules grow, and imports from before must not escape them."""

from __future__ import annotations

from collections.abc import Iterator

from recollect.core.ids import MemoryId
from recollect.core.records import Memory
from recollect.core.text import fingerprint
from recollect.privacy.scan import redact, scan
from recollect.remember.act import ActContext
from recollect.remember.changes import Changes
from recollect.store.store import Store


def stored_secrets(store: Store) -> Iterator[tuple[MemoryId, tuple[str, ...]]]:
    """Every memory with the rules that fire on its text; most have none."""
    for page in store.memories.every():
        for memory in page.memories:
            yield memory.id, tuple(finding.rule for finding in scan(memory.content))


def secrets_in_turns(store: Store) -> Iterator[tuple[str, tuple[str, ...]]]:
    """Every turn of a chat with the rules that fire on what was said in it; turns without any are left out."""
    found: dict[str, list[str]] = {}
    for turn, text in store.turns.every_text():
        if rules := [finding.rule for finding in scan(text)]:
            found.setdefault(turn, []).extend(rules)
    yield from ((turn, tuple(dict.fromkeys(rules))) for turn, rules in found.items())


def redact_turn(store: Store, turn: str) -> None:
    """Replace the secrets in what was said in a turn."""
    store.turns.reword(turn, lambda text: redact(text).text)


def redact_stored(store: Store, id: MemoryId, hand: ActContext) -> Memory:
    """Replace the secrets of one memory. What the log kept of its old text is erased with them."""
    with store.engine.write():
        memory = store.memories.get(id)
        redaction = redact(memory.content)
        safe = memory.having(
            content=redaction.text,
            fingerprint=fingerprint(redaction.text),
            flagged=True,
            updated_at=hand.at,
            revision=memory.revision + 1,
        )
        rules = ", ".join(sorted({finding.rule for finding in redaction.findings}))
        changes = Changes(store, hand)
        changes.rewrite("redact", memory, safe, f"secret: {rules}")
        changes.write()
    return safe
