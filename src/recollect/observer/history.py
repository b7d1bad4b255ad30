"""What earlier sessions of the project say about what this one saw. Reads the statistics; this session counts once.

A rule asks here instead of the store, so that it can be told with a hand-made past.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import cached_property

from recollect.core.observed import Contribution, ErrorSeen, FileCount, FileSeen, SignalSeen
from recollect.observer import policy
from recollect.observer.hunch import Evidence
from recollect.store.observed import Observed

DAY_SECONDS = 86_400


class History:
    """The sessions before this one, and this one."""

    def __init__(self, observed: Observed, seen: Contribution) -> None:
        self._observed = observed
        self._seen = seen
        self._here = seen.session.id

    def signals(self, name: str, *, hunch: str | None = None) -> dict[str, list[tuple[str, SignalSeen]]]:
        """By subject, every session that had the signal about something this session had it about; this one last."""
        mine = {
            signal.subject: signal
            for signal in self._seen.signals
            if signal.name == name and hunch in (None, signal.hunch)
        }
        found: dict[str, list[tuple[str, SignalSeen]]] = {subject: [] for subject in mine}
        for session, one in self._observed.signals(name, mine) if mine else ():
            if session != self._here:
                found[one.subject].append((session, one))
        for subject, one in mine.items():
            found[subject].append((self._here, one))
        return found

    def troubles(self) -> dict[tuple[str, str, str], list[tuple[str, ErrorSeen]]]:
        """By tool, command and fingerprint, every session that had a trouble this one had."""
        mine = {(error.tool, error.words, error.fingerprint): error for error in self._seen.errors}
        found: dict[tuple[str, str, str], list[tuple[str, ErrorSeen]]] = {key: [] for key in mine}
        prints = {error.fingerprint for error in self._seen.errors}
        for session, one in self._observed.troubles(prints) if prints else ():
            key = (one.tool, one.words, one.fingerprint)
            if session != self._here and key in found:
                found[key].append((session, one))
        for key, one in mine.items():
            found[key].append((self._here, one))
        return found

    def troubles_about(self, paths: Iterable[str]) -> list[tuple[str, ErrorSeen]]:
        """Earlier sessions that had any trouble with some files."""
        wanted = set(paths)
        found = self._observed.troubles_about(wanted) if wanted else []
        return [(session, one) for session, one in found if session != self._here]

    def changed_together(self) -> dict[tuple[str, str], tuple[str, ...]]:
        """The sessions in which two files that this session changed were changed close to each other; this one last."""
        changed = {file.path for file in self._seen.files if file.edits}
        mine = {(pair.one, pair.other) for pair in self._seen.pairs if pair.one in changed and pair.other in changed}
        if not mine:
            return {}
        earlier = self._observed.changed_together({path for pair in mine for path in pair})
        return {pair: (*(one for one in earlier.get(pair, ()) if one != self._here), self._here) for pair in mine}

    def counts(self, paths: Iterable[str]) -> dict[str, FileCount]:
        """How often these files were used, this session included."""
        wanted = set(paths)
        here = {file.path: file for file in self._seen.files if file.path in wanted}
        known = {file.path: file for file in self._observed.files(paths=wanted)}
        stored = {one.path for one in self._stored}
        return {path: _with(known.get(path), here.get(path), counted=path in stored) for path in sorted(wanted)}

    def sessions_in(self, module: str) -> list[str]:
        """The sessions that worked in a folder; this one last."""
        return [*(one for one in self._observed.sessions_in(module) if one != self._here), self._here]

    def changing_sessions(self) -> int:
        """How many sessions changed any file, this one included."""
        return self._observed.changing_sessions(besides=self._here) + any(file.edits for file in self._seen.files)

    def every_session(self) -> int:
        """How many sessions there were, this one included."""
        return len(self._began)

    def days(self, sessions: Iterable[str]) -> dict[str, int | str]:
        """The day each session began on; one that nobody knows the time of stands for itself."""
        began = self._began
        return {one: one if (at := began.get(one)) is None else int(at // DAY_SECONDS) for one in sessions}

    def in_order(self, sessions: Iterable[str]) -> list[str]:
        """Sessions in the order they began; this one last."""
        wanted = set(sessions)
        return [*(one for one in self._began if one in wanted and one != self._here),
                *((self._here,) if self._here in wanted else ())]  # fmt: skip

    @cached_property
    def _began(self) -> dict[str, float | None]:
        return {**self._observed.began(), self._here: self._seen.session.started}

    def was_changed(self, path: str) -> bool:
        """Was the file, or one below the folder, ever changed? Then it is there."""
        here = any(file.edits and (file.path == path or file.path.startswith(f"{path}/")) for file in self._seen.files)
        return here or self._observed.was_changed(path)

    def used_in(self, sessions: Sequence[str], *, share: float) -> dict[str, float]:
        """The files that more than a share of some sessions used, with their share; few sessions count for less."""
        here = {file.path for file in self._seen.files} if self._here in sessions else set()
        every = len(sessions) + policy.DOUBT_OCCASIONS
        least = max(1, int(share * every) - 1)
        others = [session for session in sessions if session != self._here]
        used = self._observed.used_in(others, least=least)
        shares = {path: (used.get(path, 0) + (path in here)) / every for path in {*used, *here}}
        return {path: found for path, found in shares.items() if found > share}

    def evidence(self, session: str, steps: tuple[int, ...] = ()) -> Evidence:
        """A session as evidence of local facts: what files were used, which commands ran and failed."""
        return Evidence(session, steps)

    @cached_property
    def _stored(self) -> tuple[FileSeen, ...]:
        """What is already counted of this session, when it is seen again."""
        return self._observed.files_of([self._here]).get(self._here, ())


def _with(known: FileCount | None, here: FileSeen | None, *, counted: bool) -> FileCount:
    if here is None or counted:
        return known or FileCount(path="", module="", sessions=0, reads=0, edits=0, edited=0, last=None)
    before = known or FileCount(path=here.path, module=here.module, sessions=0, reads=0, edits=0, edited=0, last=None)
    return FileCount(
        path=here.path,
        module=here.module,
        sessions=before.sessions + 1,
        reads=before.reads + here.reads,
        edits=before.edits + here.edits,
        edited=before.edited + (here.edits > 0),
        last=before.last,
    )
