"""What the store lets the observer foresee: files from a prompt, failures before a call. Reads, and keeps what it read.

The algorithms are in `foresee`, `foresee_errors` and `foresee_files`; here they meet what was observed.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Sequence, Set

from recollect.core.errors import StoreDamaged
from recollect.core.kinds import Kind
from recollect.core.observed import ErrorSeen
from recollect.core.query import Filter
from recollect.core.scope import OPEN
from recollect.observer.companions import SeenTogether
from recollect.observer.events import ToolCall
from recollect.observer.foresee import Match, Pattern, Trouble, chosen_bar, matching
from recollect.observer.foresee_errors import RECURRING, SESSIONS, Odds
from recollect.observer.foresee_files import ALIKE, Foreseen, Past, foresee
from recollect.observer.lookout import Lookout
from recollect.observer.outlook import KNOWN, NAME, packed, packed_paths
from recollect.observer.traits import Situation, with_folders
from recollect.observer.wording import deeds
from recollect.store.store import Store

_MEMORIES = 500  # error patterns whose triggers are looked at


class Foresight:
    """Foresees from what was observed so far. Kept over many sessions, it reads only what is new."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._odds = Odds()
        self._learnt: list[str] = []
        self._patterns: list[Pattern] = []
        self._known: set[str] = set()
        self._state: tuple[str, ...] | None = None

    # --- files --------------------------------------------------------------------------------------------------------

    def files(self, prompt: str, *, k: int = 10, branch: str = "") -> list[Foreseen]:
        """The files a session that begins with `prompt` will most probably touch."""
        past = self.past()
        named = foresee(prompt, past, k=ALIKE, branch=branch, files=self._project_files())
        together = SeenTogether(self._store).together([one.path for one in named])
        return foresee(prompt, past, k=k, branch=branch, files=self._project_files(), together=together)

    def past(self) -> list[Past]:
        """Every observed session as the prediction of files sees it, in time order."""
        return [
            Past(
                prompt=session.prompt,
                edited=tuple(one.path for one in files if one.edits),
                read=tuple(one.path for one in files if not one.edits),
                branch=session.branch,
            )
            for session, files in self._store.observed.histories()
        ]

    def _project_files(self) -> list[str]:
        """The files of the project that the code room knows; none where no source was indexed."""
        return list(self._store.graph.files()) if self._store.has_code() else []

    # --- failures -----------------------------------------------------------------------------------------------------

    def patterns(self) -> list[Pattern]:
        """What is known to fail, with what is told of it."""
        self._learn()
        return self._patterns

    def bar(self) -> float:
        """How likely a failure must be to be worth a warning here."""
        sessions = self._store.observed.sessions()
        return chosen_bar([(one.calls, one.raised) for one in sessions])

    def lookout(self) -> Lookout:
        """A lookout over a session that begins now."""
        return Lookout(self.patterns() or None, known=self.known())

    def known(self) -> Set[str]:
        """The files and folders that earlier sessions found to exist: some use of them went well."""
        self._learn()
        return self._known

    def warnings(
        self,
        call: ToolCall,
        *,
        situation: Situation | None = None,
        given: Collection[str] = (),
        told: Collection[str] = (),
    ) -> list[Match]:
        """The failures to warn of before a call, the likeliest first; none twice for what was `given` and `told`."""
        return matching(call, self.patterns(), situation=situation, bar=self.bar(), given=given, told=told)

    def publish(self) -> None:
        """Write down what the hook process is to warn of: a projection of what was observed. A hook reads the project
        that the store belongs to; what is known of another in the same store is not for it."""
        if self._store.project != (self._store.meta("project") or "default"):
            return
        bar = self.bar()
        told = {NAME: packed(self.patterns(), bar), KNOWN: packed_paths(self.known())}
        changed = {name: text for name, text in told.items() if self._published(name) != text}
        if not changed or self._store.engine.read_only:
            return
        with self._store.engine.write(durable=False):
            for name, text in changed.items():
                self._store.set_meta(name, text)

    def _published(self, name: str) -> str | None:
        """What was written down; what has been damaged since counts as nothing, and is written anew."""
        try:
            return self._store.meta(name)
        except StoreDamaged:
            return None

    def _learn(self) -> None:
        ids = tuple(self._store.observed.ids())
        state = (*ids, str(self._store.observed.troubled()))
        if state == self._state:
            return
        if list(ids[: len(self._learnt)]) != self._learnt or not self._learnt:
            self._odds, self._learnt = Odds(), list(ids[: max(0, len(ids) - SESSIONS)])
            self._known = set()
        for traits in self._store.observed.traits(ids[len(self._learnt) :]):
            self._odds.add(traits)
            for one in traits:
                if one.sort == "file" and one.times > len(one.failed):
                    self._known.update(with_folders(one.what))
        self._learnt = list(ids)
        self._patterns = self._odds.patterns(self._troubles())
        self._state = state

    def _troubles(self) -> dict[tuple[str, str], Trouble]:
        """What may be told of a trouble, by tool and fingerprint: as sessions met it before they reached outside."""
        observed = self._store.observed
        outside, memories = observed.outside(), self._remembered()
        newest: dict[tuple[str, str], ErrorSeen] = {}
        helped: dict[tuple[str, str], Counter[str]] = {}
        for session, one in observed.troubles({one.fingerprint for one in observed.errors()}):
            if session in outside and max(one.steps, default=0) >= outside[session][0]:
                continue
            newest[one.tool, one.fingerprint] = one
            if one.resolution:
                helped.setdefault((one.tool, one.fingerprint), Counter())[one.resolution] += 1
        return {
            key: Trouble(one.fingerprint, _told(one), _remedy(helped.get(key)), memories.get(key, ""))
            for key, one in newest.items()
        }

    def _remembered(self) -> dict[tuple[str, str], str]:
        """The memories that tell of a trouble, by the tool and fingerprint of their trigger."""
        wanted = Filter(kinds=frozenset({Kind.ERROR_PATTERN, Kind.GOTCHA}), statuses=OPEN)
        page = self._store.memories.page(wanted, limit=_MEMORIES)
        triggers: Sequence[tuple[object, str]] = [(one.attributes.get("trigger"), one.id) for one in page.memories]
        return {
            (str(trigger.get("tool")), str(trigger["fingerprint"])): id
            for trigger, id in triggers
            if isinstance(trigger, dict) and trigger.get("fingerprint")
        }


def _told(one: ErrorSeen) -> str:
    """How a trouble reads; where another file's name or number would mislead, its shape."""
    return one.shape if "<" in one.shape else one.example


def _remedy(helped: Counter[str] | None) -> str:
    """What helped more than once."""
    remedy, times = helped.most_common(1)[0] if helped else ("", 0)
    return deeds(remedy) if times >= RECURRING else ""
