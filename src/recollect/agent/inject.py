"""What is told at each moment: which memories a reader is asked for, and which of them are chosen.

Shared by the library's session and the hook process, so it is light to load and never writes. A reader is the store as
`store/quick` reads it; `search` is its word search or, where a warm process has one, the whole of recall.
"""

from __future__ import annotations

from recollect.agent.moments import (
    ANSWERS,
    BEFORE,
    FIRST_MESSAGE,
    FIRST_STEP,
    PROMPT,
    RELEVANT,
    STANDING,
    STEP,
    SYSTEM_PROMPT,
    TOLD,
    TOOL_RESULT,
    WARNINGS,
    commands,
    told,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Container, Iterable, Sequence

    from recollect.core.summary import MemorySummary
    from recollect.observer.events import ToolCall
    from recollect.store.sqlite.hook_reader import HookReader

    Search = Callable[[str, Iterable[str], int], Sequence[MemorySummary]]

_RESUMABLE = 0.4  # confidence below which a work state is history: ten days after it was written
_LOOKED_AT = 60  # memories that are looked through for those that hold everywhere
_PATTERNS = 40  # prefetch patterns that are looked through
_SAID = 300  # letters of a failing result that its cause is looked for with


class Teller:
    """Chooses for one session at one moment. `given` is what it was told before; nothing is told twice."""

    def __init__(
        self, reader: HookReader, *, session: str, level: str, given: Container[str], search: Search | None = None
    ) -> None:
        self._reader = reader
        self._session = session
        self._level = level
        self._given = given
        self._search: Search = search or (lambda text, kinds, most: reader.search(text, kinds, limit=most))

    def at_start(self, task: str = "") -> list[MemorySummary]:
        """What holds for the whole session: where work stopped, what holds everywhere, what the task is about."""
        found = [*self.work_state(), *self._reader.leading(STANDING, limit=_LOOKED_AT)]
        about = self._relevant(task, TOLD, SYSTEM_PROMPT.most) if task else []
        resumed = [known for known in found if known.kind == "work_state"]
        rest = [known for known in found if known.kind != "work_state"]
        return [*resumed, *told([*about, *rest], SYSTEM_PROMPT, level=self._level, given=self._given)]

    def for_prompt(self, prompt: str, *, first: bool, files: Sequence[str] = ()) -> list[MemorySummary]:
        """What a request is about and what is known of files it names; the first one, also where work stopped."""
        moment = FIRST_MESSAGE if first else PROMPT
        resumed = self.work_state() if first else []
        named = self._reader.about(files, TOLD, limit=2 * moment.most) if files else []
        found = [*self._relevant(prompt, TOLD, 2 * moment.most), *named]
        return [*resumed, *told(found, moment, level=self._level, given=self._given)]

    def for_result(self, call: ToolCall, text: str, *, failed: bool) -> list[MemorySummary]:
        """What is known to go wrong with the files a call touched; after a failure, what is known of that failure."""
        found = list(self._reader.about(call.paths, WARNINGS, limit=24)) if call.paths else []
        if failed:
            cause = f"{call.subject} {text[:_SAID]} {text[-_SAID:] if len(text) > _SAID else ''}"
            found = [*self._relevant(cause, WARNINGS, 6), *found]
        return told(found, TOOL_RESULT, level=self._level, given=self._given)

    def for_step(self, calls: Sequence[ToolCall], *, step: int, since: int) -> list[MemorySummary]:
        """Between two steps, from the fifth on: traps of files just touched, what was just written down by this
        session or another, the answer to a search. The first of the three that has something."""
        if step < FIRST_STEP:
            return []
        files = {path for call in calls if call.action in ("read", "edit") for path in call.paths}
        if files and (found := self._chosen(self._reader.about(files, WARNINGS, limit=24))):
            return found
        if found := self._chosen(self._reader.fresh(since, limit=8)):
            return found
        for call in list(calls)[-3:]:
            if call.action == "search" and call.subject:
                answers = [one for one in self._search(call.subject, TOLD, 6) if one.relevance >= ANSWERS]
                if found := self._chosen(answers):
                    return found[:1]
        return []

    def for_action(self, call: ToolCall) -> list[MemorySummary]:
        """The one warning before an edit or a command."""
        from recollect.agent.gate import GATED_ACTIONS, matching  # the other moments do without

        if call.action not in GATED_ACTIONS:
            return []
        found = list(self._reader.about(call.paths, WARNINGS, limit=24)) if call.paths else []
        if call.action == "run" and call.subject:
            found += self._search(call.subject, WARNINGS, 8)
        return told((known for known, _ in matching(call, found)), BEFORE, level=self._level, given=self._given)

    def work_state(self) -> list[MemorySummary]:
        """Where an earlier session stopped, if that was lately and nothing from outside is in it."""
        for known in self._reader.of_kind("work_state", limit=4):
            if known.id in self._given:
                return []  # a session is told one
            if known.session == self._session:
                continue
            if known.confidence < _RESUMABLE or known.tainted or commands(known.content):
                continue
            return [known]
        return []

    def prefetch(self, prompt: str, files: Sequence[str] = ()) -> list[MemorySummary]:
        """The patterns of files that go with what is asked: their module is named by the words or by a file."""
        said = prompt.casefold()
        patterns = self._reader.of_kind("prefetch_pattern", limit=_PATTERNS)
        fitting = [one for one in patterns if not one.tainted and _names(one, said, files)]
        fitting.sort(key=lambda one: (-one.confidence, one.id))
        return [one for one in fitting if one.confidence >= _RESUMABLE]

    def _relevant(self, text: str, kinds: Iterable[str], most: int) -> list[MemorySummary]:
        return [known for known in self._search(text, kinds, most) if known.relevance >= RELEVANT]

    def _chosen(self, found: Iterable[MemorySummary]) -> list[MemorySummary]:
        return told(found, STEP, level=self._level, given=self._given)


def _names(pattern: MemorySummary, said: str, files: Sequence[str]) -> bool:
    """Is the pattern's module spoken of? The last part of a path says it, if it is long enough to be a name."""
    module = str(pattern.payload.get("module_trigger") or "").strip("/")
    if not module:
        return False
    if any(file == module or file.startswith(module + "/") for file in files):
        return True
    last = module.rsplit("/", 1)[-1].rsplit(".", 1)[0].casefold()
    return module.casefold() in said or (len(last) >= 4 and last in said)
