"""Looking for secrets in everything a store keeps, and taking them out: its tables, the files of sessions, the hook's
log, and the copies in `backups/` and `quarantine/`.

Copies are never rewritten: a backup is what was. They are listed, and removed when the person says so, after a fresh
backup of the fixed store was made.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from recollect.core.errors import StoreError
from recollect.files.session_file import ENDING, SessionFile, replace_file
from recollect.privacy.scan import redact, scan
from recollect.privacy.values import redact_value, rules_in
from recollect.remember.rescreen import SecretPlace, redact_store, rules_in_text, secrets_in_store
from recollect.store.sqlite.backup import make_backup
from recollect.store.sqlite.engine import SqliteEngine
from recollect.store.texts import StoredTexts
from recollect.tend.beside import HOOK_LOGS, copies_beside, remove_copy, texts_beside

if TYPE_CHECKING:
    from recollect.remember.act import ActContext
    from recollect.store.store import Store


@dataclass(frozen=True, slots=True)
class StoredSecret:
    """A rule that fires on what some place holds. `place` says what sort of place, `where` which one; `way` what to do
    about one that was not fixed."""

    where: str
    rule: str
    fixed: bool
    place: str = "memory"
    way: str = ""


@dataclass(frozen=True, slots=True)
class SecretSearch:
    """Finds secrets in one store and what lies beside it, and takes them out."""

    store: Store
    act: Callable[[], ActContext]
    progress: Callable[[int], None]

    def run(self, *, fix: bool, backups: bool) -> list[StoredSecret]:
        """Every place with a secret, by the rules that fire there. `backups` removes the copies that hold one."""
        found = self._tables(fix=fix)
        found += [one for path in texts_beside(self.store.engine.folder) for one in self._file(path, fix=fix)]
        return found + self._copies(remove=fix and backups)

    def _tables(self, *, fix: bool) -> list[StoredSecret]:
        found = dict(secrets_in_store(self.store, self.progress))
        left: dict[SecretPlace, tuple[str, ...]] = {}
        if fix and found:
            redact_store(self.store, self.act)
            left = dict(secrets_in_store(self.store, self.progress))  # what is called fixed was looked at again
        return [
            StoredSecret(place.name, rule, fix and place not in left, place.sort, _LEFT if place in left else _way(fix))
            for place, rules in {**found, **left}.items()
            for rule in rules
        ]

    # --- files that are texts -------------------------------------------------------------------------------------

    def _file(self, path: Path, *, fix: bool) -> list[StoredSecret]:
        place = "hook log" if path.name in HOOK_LOGS else "session file"
        try:
            rules = self._session_file(path, fix=fix) if path.suffix == ENDING else self._plain_file(path, fix=fix)
        except OSError as error:
            return [StoredSecret(str(path), "unread", False, place, f"cannot be read: {error.strerror or error}")]
        return [StoredSecret(str(path), rule, fix, place, _way(fix)) for rule in rules]

    def _session_file(self, path: Path, *, fix: bool) -> list[str]:
        file = SessionFile(str(path))
        try:
            rules = dict.fromkeys(rule for line in file.every_line() for rule in _line_rules(line))
            if fix and rules:
                file.reword(_redact_line)
        finally:
            file.close()
        return list(rules)

    def _plain_file(self, path: Path, *, fix: bool) -> list[str]:
        text = path.read_bytes().decode("utf-8", "surrogateescape")
        hidden = redact(text)
        if fix and hidden.findings:
            replace_file(str(path), lambda _: hidden.text.encode("utf-8", "surrogateescape"))
        return list(dict.fromkeys(finding.rule for finding in hidden.findings))

    # --- copies of the store --------------------------------------------------------------------------------------

    def _copies(self, *, remove: bool) -> list[StoredSecret]:
        folder = self.store.engine.folder
        if folder is None:
            return []
        found = [(place, path, rule) for place, path in copies_beside(folder) for rule in _rules_in_copy(path)]
        if remove and found:
            make_backup(self.store.engine, reason="scanned")
            for path in {path for _, path, _ in found}:
                remove_copy(path)
        way = "run `recollect scan --fix --backups` to remove it after a fresh backup"
        return [StoredSecret(str(path), rule, remove, place, "" if remove else way) for place, path, rule in found]


_LEFT = "its row is damaged: run `recollect repair`, then scan again"


def _way(fix: bool) -> str:
    return "" if fix else "run `recollect scan --fix`"


def _line_rules(line: str) -> tuple[str, ...]:
    try:
        return rules_in(json.loads(line))
    except (ValueError, RecursionError):
        return tuple(finding.rule for finding in scan(line))


def _redact_line(line: str) -> str:
    try:
        value = json.loads(line)
    except (ValueError, RecursionError):
        return redact(line).text
    safe = redact_value(value)
    return line if safe is value else json.dumps(safe, ensure_ascii=True, separators=(",", ":")) + "\n"


def _rules_in_copy(path: Path) -> list[str]:
    """The rules that fire on a copy of a store, whatever its schema; "unread" for one that cannot be read."""
    engine = SqliteEngine(path, read_only=True)
    try:
        rules: dict[str, None] = {}
        for held in StoredTexts(engine).every():
            rules.update(dict.fromkeys(rules_in_text(held.text)))
        return list(rules)
    except StoreError:
        return ["unread"]
    finally:
        engine.close()
