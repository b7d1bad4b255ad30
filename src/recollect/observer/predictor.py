"""Predicting from what was observed: the odds of failure of every feature, a session's own share in them, and
`Predictor`, which reads the store, keeps what it read and publishes the snapshot that hooks warn from.

Counts fade with each further session, because what failed last year was mended. A share is pulled towards that of the
broader thing it belongs to, the less was seen of it: a state towards its feature, a feature towards its tool.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Container, Iterable, Mapping, Sequence, Set
from dataclasses import dataclass, field

from recollect.core.errors import StoreDamaged
from recollect.core.kinds import Kind
from recollect.core.observed import ErrorSeen, FeatureSeen
from recollect.core.query import Filter
from recollect.core.scope import OPEN
from recollect.observer import failure_priors, policy
from recollect.observer.context import ObserverContext, Snapshots
from recollect.observer.events import Event, ToolCall, ToolResult
from recollect.observer.failure_patterns import (
    NARROW,
    SNAPSHOT_FILES_NAME,
    SNAPSHOT_NAME,
    Match,
    Pattern,
    Trouble,
    choose_threshold,
    is_news,
    match_patterns,
    pack_paths,
    pack_patterns,
)
from recollect.observer.failure_priors import Priors
from recollect.observer.features import RUN_STATES, Feature, FeatureState, split_commands, with_folders
from recollect.observer.file_prediction import ObservedCoChange, PastSession, PredictedFile, predict_files
from recollect.observer.hunch import describe_remedy
from recollect.observer.language import fingerprint
from recollect.observer.tool_calls import describe_failure

DIGITS = 4  # of a likelihood that count
WHOLE = "tool"  # the sort of the feature that all calls of a tool share
_STATES_OF_PATHS = frozenset({"new", "known", "seen", "missing"})  # the others are of an edit, not of its file

Key = tuple[str, str, str]


@dataclass(slots=True)
class _Count:
    """Calls with a feature, and the troubles they met, by fingerprint; counts fade."""

    calls: float = 0.0
    fails: float = 0.0
    failed: dict[str, float] = field(default_factory=dict)
    clean: int = 0
    sessions: int = 0  # that failed
    first: float = 0.0  # what the first failure counts

    def add(self, seen: Sequence[FeatureSeen], weight: float) -> None:
        marks = [mark for one in seen for mark in one.failed]
        self.calls += weight * sum(one.times for one in seen)
        self.fails += weight * len(marks)
        self.clean += sum(one.clean for one in seen)
        self.sessions += bool(marks)
        if marks and not self.first:
            self.first = weight
        for mark in marks:
            self.failed[mark] = self.failed.get(mark, 0.0) + weight


class FailureOdds:
    """How often calls with a feature failed. Add sessions in the order they began, then ask for patterns."""

    def __init__(self, priors: Priors | None = None) -> None:
        self._priors = priors or failure_priors.PRIORS
        self._weight = 1.0
        self._features: dict[Key, _Count] = {}
        self._states: dict[Key, dict[str, _Count]] = {}
        self._seen: Counter[tuple[str, str]] = Counter()  # sessions by tool and fingerprint

    def add(self, session: Sequence[FeatureSeen]) -> None:
        """Learn from one more session."""
        self._weight /= policy.FADING  # growing what is new is fading what is old
        alike: dict[Key, list[FeatureSeen]] = {}
        for one in session:
            if one.sort == WHOLE:
                self._seen.update({(one.tool, mark) for mark in one.failed})
            else:
                alike.setdefault((one.tool, one.sort, one.what), []).append(one)
        for key, seen in alike.items():
            self._features.setdefault(key, _Count()).add(seen, self._weight)
            states = self._states.setdefault(key, {})
            for one in seen:
                states.setdefault(one.state, _Count()).add([one], self._weight)

    @property
    def lines(self) -> set[tuple[str, str]]:
        """The shell lines that failed, each with its tool."""
        return {(tool, what) for tool, sort, what in self._features if sort == "line"}

    def patterns(self, troubles: Mapping[tuple[str, str], Trouble] | None = None) -> list[Pattern]:
        """What is known to fail, the likeliest first.

        `troubles` is what may be told, by tool and fingerprint; what is not among it is left out.
        """
        made = (
            self._pattern(key, troubles) for key, count in self._features.items() if count.clean and key[1] != "any"
        )
        kept = [one for one in made if one is not None and one.most >= policy.THRESHOLDS[0]]
        return sorted(kept, key=lambda one: (-one.most, one.name))

    def _pattern(self, key: Key, troubles: Mapping[tuple[str, str], Trouble] | None) -> Pattern | None:
        tool, sort, what = key
        feature = self._features[key]
        known = {
            mark: n
            for mark, n in feature.failed.items()
            if self._seen[tool, mark] >= policy.RECURRING_SESSIONS and (troubles is None or (tool, mark) in troubles)
        }
        if not known:
            return None
        usual, odds = self._likelihoods(key)
        ranked = sorted(known, key=lambda mark: (-known[mark], mark))
        told = tuple(Trouble(mark) if troubles is None else troubles[tool, mark] for mark in ranked)
        narrow = sort in NARROW  # there also a low share tells something
        odds = {
            state: round(share, DIGITS)
            for state, share in sorted(odds.items())
            if narrow or share >= policy.THRESHOLDS[0]
        }
        return Pattern(tool, sort, what, round(usual, DIGITS), odds, told, feature.sessions)

    def _likelihoods(self, key: Key) -> tuple[float, dict[str, float]]:
        """How likely calls with a feature fail, whatever the state, and by state.

        What such calls did here is pulled towards the broader thing: a line towards its command, a file towards its
        state, those towards what is usual in other projects.
        """
        tool, sort, what = key
        feature, states = self._features[key], self._states[key]
        if sort == "line":
            broader = self._command_likelihoods(tool, what)
            return 0.0, {
                state: self._pulled(count, broader.get(state, 0.0), policy.PULL[sort], spare=True)
                for state, count in states.items()
            }
        if sort == "file":
            return 0.0, {
                state: self._pulled(count, self._state_likelihood(tool, state), policy.PULL[sort])
                for state, count in states.items()
                if state in _STATES_OF_PATHS
            }
        if sort == "state":
            return self._state_likelihood(tool, what), {}
        usual = {state: self._priors.share(tool, sort, state) for state in (*states, *self._priors.states(sort))}
        mean = sum(count.calls * usual[state] for state, count in states.items()) / feature.calls
        ratio = _odds(self._pulled(feature, mean, policy.PULL[sort])) / _odds(mean)
        odds = {state: _share(_odds(share) * ratio) for state, share in usual.items()}
        for state, count in states.items():
            odds[state] = self._pulled(count, odds[state], policy.STATE_PULL)
        return 0.0, odds

    def _command_likelihoods(self, tool: str, line: str) -> dict[str, float]:
        """Of a line never seen, by state: that of the command in it that fails most."""
        found = {state: self._priors.share(tool, "command", f"told {state}") for state in RUN_STATES}
        for name, told in split_commands(line):
            if told and (tool, "command", name) in self._features:
                odds = self._likelihoods((tool, "command", name))[1]
                for state, usual in found.items():
                    found[state] = max(usual, odds.get(f"told {state}", 0.0))
        return found

    def _state_likelihood(self, tool: str, state: str) -> float:
        share, count = self._priors.share(tool, "state", state), self._features.get((tool, "state", state))
        return share if count is None else self._pulled(count, share, policy.PULL["state"])

    def _pulled(self, count: _Count, broader: float, pull: float, *, spare: bool = False) -> float:
        """The share of calls that failed, pulled towards a broader one. What is only counted since it failed is not
        counted for that first failure."""
        first = count.first if spare else 0.0
        return ((count.fails - first) / self._weight + pull * broader) / ((count.calls - first) / self._weight + pull)


def _odds(share: float) -> float:
    return share / (1.0 - share)


def _share(odds: float) -> float:
    return odds / (1.0 + odds)


# --- one session ---------------------------------------------------------------------------------------------------


MAX_FEATURES = 1500  # of one session that are kept
MAX_FAILURES = 40  # of one feature that are kept, and calls whose answer is awaited


@dataclass(slots=True)
class _Met:
    times: int = 0
    failed: list[str] = field(default_factory=list)


class SessionPredictor:
    """Watches one session. `patterns`, `known` paths and failing `lines` are what earlier sessions taught; without
    patterns, nothing is raised."""

    def __init__(
        self,
        patterns: Sequence[Pattern] | None = None,
        *,
        known: Container[str] = (),
        lines: Iterable[tuple[str, str]] = (),
    ) -> None:
        self.feature_state = FeatureState(known)
        self._patterns: dict[str, list[Pattern]] = {}
        self._foresees = patterns is not None
        self._lines = set(lines)
        for pattern in patterns or ():
            self._patterns.setdefault(pattern.tool, []).append(pattern)
        self._met: dict[tuple[str, str, str, str], _Met] = {}
        self._asked: dict[str, tuple[str, tuple[Feature, ...], str]] = {}
        self._given: list[tuple[set[str], set[str]]] = [(set(), set()) for _ in policy.THRESHOLDS]
        self._raised = [0] * len(policy.THRESHOLDS)
        self.calls = 0

    @property
    def raised(self) -> tuple[int, ...]:
        """How many warnings each threshold would have raised; nothing when there was nothing to foresee by."""
        return tuple(self._raised) if self._foresees else ()

    def see(self, event: Event) -> list[Match]:
        """Take one event in. For a call: everything it matches at the lowest threshold, given or not."""
        matches: list[Match] = []
        if isinstance(event, ToolCall):
            self.calls += 1
            matches = match_patterns(
                event,
                self._patterns.get(event.tool, ()),
                feature_state=self.feature_state,
                threshold=policy.THRESHOLDS[0],
            )
            self._raise(matches)
            self._call(event)
        elif isinstance(event, ToolResult):
            self._answer(event)
        self.feature_state.see(event)
        return matches

    def features(self) -> tuple[FeatureSeen, ...]:
        """What was gathered, as the session's contribution."""
        return tuple(
            FeatureSeen(tool=tool, sort=sort, what=what, state=state, times=met.times, clean=met.times,
                      failed=tuple(met.failed))
            for (tool, sort, what, state), met in sorted(self._met.items())
        )  # fmt: skip

    def _raise(self, matches: Sequence[Match]) -> None:
        """Count what each threshold would raise: the likeliest that is news to the session."""
        for place, threshold in enumerate(policy.THRESHOLDS):
            given, told = self._given[place]
            for match in matches:
                if match.likelihood < threshold:
                    break
                if is_news(match, given, told):
                    given.add(match.pattern.id)
                    told |= match.pattern.fingerprints
                    self._raised[place] += 1
                    break

    def _call(self, call: ToolCall) -> None:
        features = (Feature(WHOLE, ""), *dict.fromkeys(self.feature_state.features(call)))
        for feature in features:
            key = (call.tool, *feature)
            if feature.sort == "line" and key not in self._met and (call.tool, feature.what) not in self._lines:
                continue  # lines are many: one is counted from its first failure on
            self._count(key)
        if len(self._asked) >= MAX_FAILURES:
            del self._asked[next(iter(self._asked))]
        self._asked[call.call_id] = (call.tool, features, describe_failure(call))

    def _count(self, key: tuple[str, str, str, str]) -> _Met | None:
        met = self._met.get(key)
        if met is None:
            if len(self._met) >= MAX_FEATURES:
                return None
            met = self._met[key] = _Met()
        met.times += 1
        return met

    def _answer(self, answer: ToolResult) -> None:
        tool, features, failure = self._asked.pop(answer.call_id, ("", (), ""))
        if not answer.error or answer.rejected or not features:
            return
        mark = fingerprint(answer.text or failure).key
        for feature in features:
            key = (tool, *feature)
            met = self._met.get(key)
            if met is None and feature.sort == "line":
                met = self._count(key)
                self._lines.add((tool, feature.what))
            if met is not None and len(met.failed) < MAX_FAILURES:
                met.failed.append(mark)


# --- over the store ------------------------------------------------------------------------------------------------


_MEMORIES = 500  # error patterns whose triggers are looked at


class Predictor:
    """Foresees from what was observed so far. Kept over many sessions, it reads only what is new."""

    def __init__(self, context: ObserverContext) -> None:
        self._context = context
        self._observed = context.observed
        self._odds = FailureOdds()
        self._learnt: list[str] = []
        self._patterns: list[Pattern] = []
        self._known: set[str] = set()
        self._state: tuple[str, ...] | None = None

    # --- files --------------------------------------------------------------------------------------------------------

    def files(self, prompt: str, *, k: int = 10, branch: str = "") -> list[PredictedFile]:
        """The files a session that begins with `prompt` will most probably touch."""
        co_change = ObservedCoChange(self._observed, self._context.cochanged)
        known = self._context.project_files()
        return predict_files(prompt, self.past(), k=k, branch=branch, files=known, together=co_change.together)

    def past(self) -> list[PastSession]:
        """Every observed session as the prediction of files sees it, in time order."""
        return [
            PastSession(
                prompt=session.prompt,
                edited=tuple(file.path for file in files if file.edits),
                edits=tuple(file.edits for file in files if file.edits),
                read=tuple(file.path for file in files if not file.edits),
                branch=session.branch,
            )
            for session, files in self._observed.histories()
        ]

    # --- failures -----------------------------------------------------------------------------------------------------

    def patterns(self) -> list[Pattern]:
        """What is known to fail, with what is told of it."""
        self._learn()
        return self._patterns

    def threshold(self) -> float:
        """How likely a failure must be to be worth a warning here."""
        sessions = self._observed.sessions()
        return choose_threshold([(session.calls, session.errors, session.raised) for session in sessions])

    def for_session(self) -> SessionPredictor:
        """Follows a session that begins now."""
        return SessionPredictor(self.patterns() or None, known=self.known(), lines=self._odds.lines)

    def known(self) -> Set[str]:
        """The files and folders that earlier sessions found to exist: some use of them went well."""
        self._learn()
        return self._known

    def warnings(
        self,
        call: ToolCall,
        *,
        feature_state: FeatureState | None = None,
        given: Collection[str] = (),
        told: Collection[str] = (),
    ) -> list[Match]:
        """The failures to warn of before a call, the likeliest first; none twice for what was `given` and `told`."""
        return match_patterns(
            call, self.patterns(), feature_state=feature_state, threshold=self.threshold(), given=given, told=told
        )

    def publish(self) -> None:
        """Write down what the hook process is to warn of: a projection of what was observed. A hook reads the project
        that the store belongs to; what is known of another in the same store is not for it."""
        snapshots, writer = self._context.snapshots, self._context.writer
        if snapshots is None or writer.read_only:
            return
        texts = {
            SNAPSHOT_NAME: pack_patterns(self.patterns(), self.threshold()),
            SNAPSHOT_FILES_NAME: pack_paths(self.known()),
        }
        changed = {name: text for name, text in texts.items() if _published(snapshots, name) != text}
        if not changed:
            return
        with writer.transaction(durable=False):
            for name, text in changed.items():
                snapshots.write(name, text)

    def _learn(self) -> None:
        ids = tuple(self._observed.ids())
        state = (*ids, str(self._observed.troubled()))
        if state == self._state:
            return
        if list(ids[: len(self._learnt)]) != self._learnt or not self._learnt:
            self._odds, self._learnt = FailureOdds(), list(ids[: max(0, len(ids) - policy.LEARNT_SESSIONS)])
            self._known = set()
        for features in self._observed.features(ids[len(self._learnt) :]):
            self._odds.add(features)
            for feature in features:
                if feature.sort == "file" and feature.times > len(feature.failed):
                    self._known.update(with_folders(feature.what))
        self._learnt = list(ids)
        self._patterns = self._odds.patterns(self._troubles())
        self._state = state

    def _troubles(self) -> dict[tuple[str, str], Trouble]:
        """What may be told of a trouble, by tool and fingerprint."""
        observed = self._observed
        memories = self._remembered()
        newest: dict[tuple[str, str], ErrorSeen] = {}
        helped: dict[tuple[str, str], Counter[str]] = {}
        for _, one in observed.troubles({error.fingerprint for error in observed.errors()}):
            newest[one.tool, one.fingerprint] = one
            if one.resolution:
                helped.setdefault((one.tool, one.fingerprint), Counter())[one.resolution] += 1
        return {
            key: Trouble(one.fingerprint, _describe_trouble(one), _usual_remedy(helped.get(key)), memories.get(key, ""))
            for key, one in newest.items()
        }

    def _remembered(self) -> dict[tuple[str, str], str]:
        """The memories that tell of a trouble, by the tool and fingerprint of their trigger."""
        wanted = Filter(kinds=frozenset({Kind.ERROR_PATTERN, Kind.GOTCHA}), statuses=OPEN)
        page = self._context.reader.list(wanted, limit=_MEMORIES)
        triggers: Sequence[tuple[object, str]] = [
            (memory.attributes.get("trigger"), memory.id) for memory in page.memories
        ]
        return {
            (str(trigger.get("tool")), str(trigger["fingerprint"])): id
            for trigger, id in triggers
            if isinstance(trigger, dict) and trigger.get("fingerprint")
        }


def _published(snapshots: Snapshots, name: str) -> str | None:
    """What was written down; what has been damaged since counts as nothing, and is rewritten."""
    try:
        return snapshots.read(name)
    except StoreDamaged:
        return None


def _describe_trouble(one: ErrorSeen) -> str:
    """How a trouble reads; where another file's name or number would mislead, its shape."""
    return one.shape if "<" in one.shape else one.example


def _usual_remedy(helped: Counter[str] | None) -> str:
    """What helped more than once."""
    remedy, times = helped.most_common(1)[0] if helped else ("", 0)
    return describe_remedy(remedy) if times >= policy.RECURRING_SESSIONS else ""
