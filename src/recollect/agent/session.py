"""One session of an agent, as its host lives through it: what memory says at each moment, and what was seen.

Every method answers with fenced text or with nothing, waits no longer than its moment allows, and never raises into
the host; what went wrong is kept in `notes`. What was answered is never changed afterwards, so a host that appends it
keeps the beginning of its prompt as it was.
"""

from __future__ import annotations

import os
import threading
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from time import perf_counter
from typing import Any

from recollect.agent import stages
from recollect.agent.context import AgentContext
from recollect.agent.hook import claim_warning, note_warning, render_warning
from recollect.agent.injection import (
    ARM_META,
    BEFORE,
    FIRST_MESSAGE,
    PROMPT,
    STEP,
    SYSTEM_PROMPT,
    TOOL_RESULT,
    InjectionSelector,
    Moment,
    choose_arm,
    render_block,
    render_item,
)
from recollect.agent.prefetch import MAX_NAMED, MAX_TOKENS_PER_FILE, list_pattern_files, load_files, name_likely_files
from recollect.agent.recall_search import RecallSearch, summarize
from recollect.agent.trust import CAUTIOUS, LEVEL_META, known_level
from recollect.core.payloads import WorkState, parse_payload
from recollect.core.records import WorkUnit
from recollect.core.scope import Phase
from recollect.core.summary import MemorySummary
from recollect.files.mark import foreign_notice
from recollect.files.session_file import SessionFile, SessionMemory
from recollect.observer.events import Event, Outcome, Reasoning, SessionComplete, StepComplete, ToolCall, ToolResult
from recollect.observer.features import FeatureState
from recollect.observer.watcher import SessionWatcher
from recollect.privacy.fence import block, item, own_words
from recollect.store.codec import from_ms, to_ms

_MAX_RECENT_CALLS = 12  # calls since the last step that are remembered
_MAX_FAILED_CALLS = 32  # failed calls that are remembered until their result is asked about
_MAX_NOTES = 50
_MAX_FILE_CHARS = 8 * MAX_TOKENS_PER_FILE  # the tokens were counted before


class AgentSession:
    """Memory beside one working agent. Safe to use from several threads of a host."""

    def __init__(self, context: AgentContext, session: str, *, host: str = "", arm: str | None = None) -> None:
        self._context = context
        self._notes: deque[str] = deque(maxlen=_MAX_NOTES)
        self.session = session
        self.host = host
        self.arm = choose_arm(arm or context.injections.meta.get(ARM_META), session, context.reader.project)
        self.level = known_level(context.injections.meta.get(LEVEL_META))
        self.watch, self._feature_state = self._start_watching()
        self.phase: Phase | None = None
        self.work_unit: WorkUnit | None = None
        self._began = self._now()
        self._record: SessionFile | SessionMemory = (
            SessionMemory()
            if context.injections.folder is None or context.writer.read_only
            else SessionFile.of(context.injections.folder, session, host=host)
        )
        self._said: dict[tuple[str, str], str] = {}  # what was answered at the beginning stays as it is
        self._steps = 0
        self._recent: deque[ToolCall] = deque(maxlen=_MAX_RECENT_CALLS)
        self._failed: deque[str] = deque(maxlen=_MAX_FAILED_CALLS)
        self._warned: tuple[str, str, tuple[str, ...]] | None = None  # the call that was warned of and has not run yet
        self._trail: deque[ToolCall] = deque(maxlen=_MAX_FAILED_CALLS)  # the last calls, for where work stopped
        self._last_words = ""
        self._busy = threading.Lock()  # one question at a time: a store that hangs gathers no threads
        self._hangs = False
        self._over = False

    @property
    def notes(self) -> tuple[str, ...]:
        """What went wrong or took too long, oldest first."""
        return tuple(self._notes)

    def at_work(self, stage: str = "", **unit: str | None) -> None:
        """Say what the agent is doing, in the words of the methodology: its stage, and the piece of work by its levels
        (`spec="12", subtask="3"`). What is asked from then on is weighed for that phase, and kept with that work."""
        methodology = self._context.methodology
        self.phase = methodology.phase(stage) if stage else None
        self.work_unit = methodology.work_unit(**unit)

    # --- the moments ----------------------------------------------------------------------------------------------

    def system_prompt(self, task: str = "") -> str:
        """What holds for the whole session: where work stopped, global memories, what the task is about. Asked again
        it answers the same."""
        return self._answer_once(
            SYSTEM_PROMPT, task, lambda selector: self._render(selector.at_start(task), SYSTEM_PROMPT)
        )

    def first_message(self, prompt: str, files: Sequence[str] = ()) -> str:
        """What belongs to a request: memories it is about and, with the first one, files it will likely need."""
        first = not any(name == FIRST_MESSAGE.name for name, _ in self._said)
        moment = FIRST_MESSAGE if first else PROMPT
        return self._answer_once(
            moment, prompt, lambda selector: self._answer_prompt(selector, own_words(prompt), files, first)
        )

    def tool_result(self, call: ToolCall, text: str) -> str:
        """What is known to go wrong with the files this call touched, or of the way it failed."""
        self._note_call(call)
        failed = call.call_id in self._failed
        return self._answer(
            TOOL_RESULT, lambda selector: self._render(selector.for_result(call, text, failed=failed), TOOL_RESULT)
        )

    def step(self) -> str:
        """Something for right now, between two steps; usually nothing."""
        self._steps += 1
        calls = [*self._recent]
        self._recent.clear()
        return self._answer(
            STEP, lambda selector: self._render(selector.for_step(calls, step=self._steps, since=self._began), STEP)
        )

    def before(self, call: ToolCall) -> str:
        """One short warning when a known dead end or trap matches what is about to be done."""
        return self._answer(
            BEFORE, lambda selector: self._render(selector.for_action(call), BEFORE) or self._warn(call)
        )

    # --- stages of a build ----------------------------------------------------------------------------------------

    def planner(self, task: str, modules: Sequence[str] = ()) -> str:
        """What a plan should know: how far off plans were, dead ends, what depends on what, outcomes, recipes."""
        return self._brief_stage(stages.PLANNER, stages.PLANNER_MOMENT, task, modules)

    def coder(self, task: str, modules: Sequence[str] = (), files: Sequence[str] = ()) -> str:
        """What a coder should know: traps of its modules and files, and the files such work usually needs."""
        return self._brief_stage(stages.CODER, stages.CODER_MOMENT, task, modules, files, prefetching=True)

    def reviewer(self, task: str, modules: Sequence[str] = (), files: Sequence[str] = ()) -> str:
        """What a review should look at: what was observed to break, error patterns, requirements."""
        return self._brief_stage(stages.REVIEWER, stages.REVIEWER_MOMENT, task, modules, files)

    def taken_over(self, stage: str, *, sessions: Sequence[str], source: str | None = None) -> str:
        """What earlier sessions of the work hand to this stage, as far as the methodology lets it pass."""

        def tell(selector: InjectionSelector) -> str:
            context = self._context
            memories = stages.find_relayed(context.reader, context.methodology, stage, sessions=sessions, source=source)
            fresh = [memory for memory in memories if memory.id not in self._record]
            claimed = self._claim([summarize(memory, confidence=memory.confidence) for memory in fresh], "relay")
            ids = {summary.id for summary in claimed}
            text = context.methodology.relay_text([memory for memory in fresh if memory.id in ids], stage)
            return block([item(1, "handed over", text)], nonce=_nonce()) if text else ""

        return self._answer(FIRST_MESSAGE, tell)

    def step_limit(self, base: int, modules: Sequence[str] = ()) -> int:
        """How many steps to allow: `base`, scaled by how many such work really took. `base` when nothing is known."""
        try:
            if self._context.origin.is_foreign:
                return base
            reader = self._context.hook_reader()
            known = reader.about(modules, {"task_calibration"}, limit=20, facet="module") if modules else []
            sound = [summary for summary in known if not summary.tainted]
            return stages.scale_step_limit(base, stages.measure_step_ratio(sound, self._context.methodology.name))
        except Exception as trouble:  # never into the host
            self._note(f"step_limit: {type(trouble).__name__}: {trouble}")
            return base

    # --- what was seen --------------------------------------------------------------------------------------------

    def observe(self, event: Event) -> None:
        """Watch one event. Nothing is written while the agent works."""
        try:
            self.watch.feed(event)
            self._feature_state.see(event)
            if isinstance(event, ToolCall):
                self._note_call(event)
            elif isinstance(event, ToolResult):
                self._warned = None
                if event.error:
                    self._failed.append(event.call_id)
            elif isinstance(event, Reasoning):
                self._last_words = event.text
            elif isinstance(event, StepComplete):
                self._steps = max(self._steps, event.step)
        except Exception as trouble:  # never into the host
            self._note(f"observe: {type(trouble).__name__}: {trouble}")

    def work_state(self, state: WorkState | Mapping[str, Any]) -> None:
        """Keep where the work stands, as the agent or its host states it, for those who ask."""
        try:
            parsed = parse_payload("work_state", state)
            if isinstance(parsed, WorkState):
                stages.keep_work_state(self._context, parsed, session=self.session, unit=self.work_unit, stated=True)
        except Exception as trouble:  # never into the host
            self._note(f"work_state: {type(trouble).__name__}: {trouble}")

    def end(self, outcome: Outcome | str = Outcome.UNKNOWN) -> None:
        """The session is over: where its work stopped is kept, what it was told is counted, what it showed is learnt.
        The second time nothing happens."""
        if self._over:
            return
        self._over = True
        ended = _parse_outcome(outcome)
        self.watch.feed(
            SessionComplete(id=f"end-{self.session}", session=self.session, step=self._steps, outcome=ended)
        )
        for what in (self._keep_work_state, self._keep_outcome, self._ingest, self._learn):
            try:
                what(ended)
            except Exception as trouble:  # never into the host, and one must not keep the others from their work
                self._note(f"end: {type(trouble).__name__}: {trouble}")

    # --- inside ---------------------------------------------------------------------------------------------------

    def _answer_once(self, moment: Moment, asked: str, tell: Callable[[InjectionSelector], str]) -> str:
        key = (moment.name, asked)
        if key not in self._said:
            self._said[key] = self._answer(moment, tell)
        return self._said[key]

    def _answer(self, moment: Moment, tell: Callable[[InjectionSelector], str]) -> str:
        """What is told at a moment; nothing when the arm, the clock or an error says so."""
        if not moment.speaks(self.arm):
            return ""
        if not self._busy.acquire(timeout=0.0 if self._hangs else moment.timeout):
            self._note(f"{moment.name}: memory was busy")
            return ""
        answer: list[str] = []
        start = perf_counter()

        def work() -> None:
            try:
                if doubt := self._context.origin.doubt:
                    self._note_once(foreign_notice(doubt))
                    return
                reader = self._context.hook_reader()
                self._seed()
                called = [call.tool for call in self._trail]
                search = (
                    None
                    if moment.interrupts
                    else RecallSearch(self._context, reader, phase=self.phase, recent_calls=called)
                )
                selector = InjectionSelector(
                    reader, session=self.session, level=self.level, given=self._record, search=search
                )
                answer.append(tell(selector))
            except Exception as trouble:  # never into the host
                self._note(f"{moment.name}: {type(trouble).__name__}: {trouble}")
            finally:
                self._hangs = False
                self._busy.release()

        thread = threading.Thread(target=work, name=f"recollect-{moment.name}", daemon=True)
        thread.start()
        thread.join(moment.timeout)
        self._hangs = thread.is_alive()
        taken = perf_counter() - start
        if taken > moment.budget:
            self._note(f"{moment.name}: took {taken * 1000:.0f} ms of {moment.budget * 1000:.0f}")
        return answer[0] if answer else ""

    def _seed(self) -> None:
        """A session that is resumed after its file went knows from the store what it was told."""
        if not self._record.is_seeded:
            earlier = self._context.injections.injections.of(self.session)
            self._record.seed([told.memory for told in earlier], self._now())

    def _claim(self, chosen: Sequence[MemorySummary], moment: str) -> list[MemorySummary]:
        """Those that no other process of the session told meanwhile."""
        claimed = self._record.claim([known.id for known in chosen], moment, self._now()) if chosen else []
        return [known for known in chosen if known.id in claimed]

    def _render(self, chosen: Sequence[MemorySummary], moment: Moment) -> str:
        return render_block(self._claim(chosen, moment.name), moment, nonce=_nonce())

    def _answer_prompt(self, selector: InjectionSelector, prompt: str, files: Sequence[str], first: bool) -> str:
        chosen = self._claim(selector.for_prompt(prompt, first=first, files=files), FIRST_MESSAGE.name)
        max_chars = FIRST_MESSAGE.item_chars
        items = [render_item(known, number, max_chars=max_chars) for number, known in enumerate(chosen, 1)]
        if first:
            items += self._likely_files(selector, prompt, files, len(items))
        return block(items, nonce=_nonce())

    def _likely_files(self, selector: InjectionSelector, prompt: str, files: Sequence[str], after: int) -> list[str]:
        root = self._context.root
        if root is None:
            return []
        patterns = self._claim(selector.prefetch(prompt, files), "prefetch")
        loaded = load_files(root, list_pattern_files(patterns))
        texts = [
            (f"file {file.path} (usually needed{', first part' if file.cut else ''})", file.text) for file in loaded
        ]
        observer = None if self.level == CAUTIOUS else self._context.observer
        foreseen = [] if observer is None else observer.foresee(prompt, k=MAX_NAMED)
        if names := name_likely_files(root, foreseen, without=[*files, *(file.path for file in loaded)]):
            texts.append(("files that are probably needed, by earlier sessions", "\n".join(names)))
        return [item(after + number, *text, limit=_MAX_FILE_CHARS) for number, text in enumerate(texts, 1)]

    def _brief_stage(
        self,
        sections: Sequence[stages.Section],
        moment: Moment,
        task: str,
        modules: Sequence[str],
        files: Sequence[str] = (),
        *,
        prefetching: bool = False,
    ) -> str:
        def tell(selector: InjectionSelector) -> str:
            chosen = stages.choose_for_stage(
                self._context.hook_reader(),
                sections,
                moment,
                task=task,
                modules=modules,
                files=files,
                level=self.level,
                given=self._record,
            )
            kept = self._claim(chosen, moment.name)
            items = [render_item(known, number, max_chars=moment.item_chars) for number, known in enumerate(kept, 1)]
            if prefetching:
                items += self._likely_files(selector, task, [*files, *modules], len(items))
            return block(items, nonce=_nonce())

        return self._answer(moment, tell)

    def _note_call(self, call: ToolCall) -> None:
        if all(call.id != recent.id for recent in self._recent):
            self._recent.append(call)
            self._trail.append(call)

    def _keep_work_state(self, outcome: Outcome) -> None:
        state = None if outcome is Outcome.SUCCESS else stages.extract_work_state(self._last_words)
        if state is not None:
            stages.keep_work_state(
                self._context,
                state,
                session=self.session,
                unit=self.work_unit,
                tainted=self.watch.find_outside(self._last_words),
            )
        if outcome is not Outcome.SUCCESS:
            stages.keep_stopping_point(
                self._context, list(self._trail), self._failed, session=self.session, unit=self.work_unit
            )

    def _keep_outcome(self, outcome: Outcome) -> None:
        if self.work_unit is None or outcome not in (Outcome.SUCCESS, Outcome.FAILURE):
            return  # nobody said how it ended
        stages.keep_outcome(
            self._context,
            list(self._trail),
            str(outcome),
            session=self.session,
            unit=self.work_unit,
            steps=self._steps,
        )

    def _learn(self, outcome: Outcome) -> None:
        observer = self._context.observer
        if observer is not None and self.watch.events > 1 and not self._context.writer.read_only:
            observer.finish(self.watch)

    def _ingest(self, outcome: Outcome) -> None:
        injections = self._context.injections
        if self._context.writer.read_only:
            return
        injections.record_session(
            self.session,
            host=self.host,
            arm=self.arm,
            began=from_ms(self._began),
            told=self._record.told(),
            outcome=str(outcome),
        )
        if isinstance(self._record, SessionFile):
            self._record.mark_ingested()
            self._record.close()
        injections.ingest()

    def _start_watching(self) -> tuple[SessionWatcher, FeatureState]:
        """What watches the session, and where it stands; without what earlier ones taught when that cannot be had."""
        observer = self._context.observer
        try:
            if observer is not None:
                return observer.watch(self.session, host=self.host), observer.feature_state()
        except Exception as trouble:  # never into the host
            self._note(f"watch: {type(trouble).__name__}: {trouble}")
        return SessionWatcher(self.session, host=self.host), FeatureState()

    def _warn(self, call: ToolCall) -> str:
        """A warning from what calls like this met before. Nobody confirmed it, so careful projects are not told."""
        observer = self._context.observer
        asked = (call.tool, call.subject, call.paths)
        if observer is None or self.level == CAUTIOUS or asked == self._warned:
            return ""
        matches = observer.warnings(call, feature_state=self._feature_state)
        match = claim_warning(matches, self._record, now=self._now())
        told = render_warning(note_warning(match, self._record, now=self._now()), nonce=_nonce())
        self._warned = asked if told else self._warned
        return told

    def _now(self) -> int:
        return to_ms(self._context.writer.now())

    def _note(self, what: str) -> None:
        self._notes.append(what)

    def _note_once(self, what: str) -> None:
        if what not in self._notes:
            self._notes.append(what)


def _parse_outcome(given: Outcome | str) -> Outcome:
    try:
        return Outcome(given)
    except ValueError:
        return Outcome.UNKNOWN


def _nonce() -> str:
    return os.urandom(8).hex()
