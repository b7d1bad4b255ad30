"""Rules about files: which are changed together, and which work in a folder needs from elsewhere.

Both are counted in sessions, with doubt, and held against chance: a file that most sessions change or read goes with
everything. Several sessions of one day are often one piece of work, so what holds must have held on two days.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from recollect.core.kinds import Kind
from recollect.core.observed import Contribution
from recollect.observer import policy
from recollect.observer.history import History
from recollect.observer.hunch import Evidence, Hunch, code, list_code
from recollect.observer.rules.places import folder, is_ledger, is_noise, is_passing_place, names_a_test

_GROUP = 6  # files of one group that are named
_PARTNERS = 3  # files named that a change of another needs
_USUAL = 12  # files of elsewhere that a folder needs, kept in one memory


@dataclass(frozen=True, slots=True)
class Tie:
    """Two files that are changed together: in which sessions, and how often a change of each came with the other."""

    one: str
    other: str
    sessions: tuple[str, ...]
    with_one: float
    with_other: float

    @property
    def subject(self) -> str:
        return f"{self.one} + {self.other}"

    @property
    def is_mutual(self) -> bool:
        return min(self.with_one, self.with_other) >= policy.TIED_SHARE

    @property
    def leader(self) -> str:
        """The file whose change calls for the other's."""
        return self.one if self.with_one >= self.with_other else self.other

    @property
    def follower(self) -> str:
        return self.other if self.leader == self.one else self.one


def changed_together(seen: Contribution, past: History) -> Iterator[Hunch]:
    """Files of which one is rarely changed without the others, where the names do not say so already. Files that all
    go with each other are one finding, and so is everything that a change of one file calls for."""
    ties = _find_ties(past)
    for group in _find_groups([tie for tie in ties if tie.is_mutual]):
        files = sorted({path for tie in group for path in (tie.one, tie.other)})
        share = min(min(tie.with_one, tie.with_other) for tie in group)
        others = "the other" if len(files) == 2 else "the others"
        text = (
            f"{list_code(files, most=_GROUP)} change together: when you change one, check {others}, "
            f"as {_mostly(share)} that changed one changed {others} too."
        )
        yield _tied_hunch(text, files, group, share, past)
    led: dict[str, list[Tie]] = {}
    for tie in ties:
        if not tie.is_mutual:
            led.setdefault(tie.leader, []).append(tie)
    for leader, some in sorted(led.items()):
        some = sorted(some, key=lambda tie: (-len(tie.sessions), folder(tie.follower) == folder(leader), tie.subject))
        some = some[:_PARTNERS]
        share = min(max(tie.with_one, tie.with_other) for tie in some)
        followers = [tie.follower for tie in some]
        text = (
            f"When you change {code(leader)}, check {list_code(followers)} too: {_mostly(share)} that changed the "
            f"first changed {'that one' if len(followers) == 1 else 'those'} with it."
        )
        yield _tied_hunch(text, [leader, *followers], some, share, past)


def _find_ties(past: History) -> list[Tie]:
    pairs = {
        pair: ids
        for pair, ids in past.changed_together().items()
        if len(ids) >= policy.GRADES["co_access"].sessions and not is_noise(*pair)
    }
    if not pairs:
        return []
    counts = past.counts({path for pair in pairs for path in pair})
    every = past.changing_sessions()
    days = past.days({id for ids in pairs.values() for id in ids})
    ties = []
    for (one, other), ids in sorted(pairs.items()):
        with_one, with_other = (len(ids) / (counts[path].edited + policy.DOUBT_OCCASIONS) for path in (one, other))
        lift = len(ids) * every / (counts[one].edited * counts[other].edited)
        if (
            max(with_one, with_other) >= policy.TIED_SHARE
            and lift >= policy.CHANCE_RATIO
            and len({days[id] for id in ids}) >= policy.DIFFERENT_DAYS
        ):
            ties.append(Tie(one, other, ids, with_one, with_other))
    return ties


def _find_groups(ties: Sequence[Tie]) -> list[list[Tie]]:
    """Files that are all tied to each other, the largest groups first; each tie stands in one group."""
    tied = {frozenset((tie.one, tie.other)): tie for tie in ties}
    left = dict(sorted(tied.items(), key=lambda item: (-len(item[1].sessions), item[1].subject)))
    groups = []
    while left:
        first = next(iter(left.values()))
        files = [first.one, first.other]
        for path in sorted({path for pair in left for path in pair}):
            if path not in files and len(files) < _GROUP and all(frozenset((path, known)) in tied for known in files):
                files.append(path)
        inside = [pair for pair in tied if pair <= set(files)]
        groups.append([tied[pair] for pair in inside])
        left = {pair: tie for pair, tie in left.items() if pair not in inside}
    return groups


def _tied_hunch(text: str, files: Sequence[str], ties: Sequence[Tie], share: float, past: History) -> Hunch:
    sessions = dict.fromkeys(id for tie in ties for id in tie.sessions)
    return Hunch(
        signal="co_access",
        subject=" + ".join(sorted(files)),
        parts=tuple(tie.subject for tie in ties) if len(files) > 2 else (),
        kind=Kind.CAUSAL_DEPENDENCY,
        text=text,
        evidence=tuple(past.evidence(id) for id in past.in_order(sessions)),
        files=tuple(files),
        strength=share,
        trigger={"files": list(files)},
    )


def prefetched(seen: Contribution, past: History) -> Iterator[Hunch]:
    """Files of elsewhere that work in a folder nearly always needs, far more often than other work does."""
    for module in sorted({file.module for file in seen.files if file.edits}):
        ids = past.sessions_in(module)
        if len(ids) < policy.MIN_MODULE_SESSIONS or module == "./" or is_passing_place(module):
            continue
        if len(set(past.days(ids).values())) < policy.DIFFERENT_DAYS:
            continue
        share = past.used_in(ids, share=policy.OFTEN_SHARE)
        counts = past.counts(share)
        used = {path: count.sessions for path, count in counts.items()}
        changed = {path: count.edited for path, count in counts.items()}
        telling = find_telling(share, module, used=used, changed=changed, every=past.every_session())
        ranked = sorted(telling, key=lambda path: (-share[path], path))
        always = [path for path in ranked if share[path] > policy.ALWAYS_SHARE]
        often = [path for path in ranked if share[path] <= policy.ALWAYS_SHARE]
        if always:
            yield prefetch_hunch(module, always, often, share, tuple(past.evidence(id) for id in ids))


def find_telling(
    share: Mapping[str, float], module: str, *, used: Mapping[str, int], changed: Mapping[str, int], every: int
) -> list[str]:
    """Of the files that a folder's work uses, those of elsewhere that other work uses far less and that are read rather
    than changed; `used` is in how many of `every` session each was, `changed` in how many of these it was changed."""
    return [
        path
        for path, held in share.items()
        if not path.startswith(module)
        and not is_ledger(path)
        and not is_passing_place(path)
        and not names_a_test(path)
        and 2 * changed.get(path, 0) < used.get(path, 0)
        and held * every / max(1, used.get(path, 0)) >= policy.CHANCE_RATIO
    ]


def prefetch_hunch(
    module: str, always: Sequence[str], often: Sequence[str], share: Mapping[str, float], evidence: tuple[Evidence, ...]
) -> Hunch:
    """That work in a folder needs some files always and others often."""
    more = f", often {list_code(often)} too" if often else ""
    them = "them" if len(always) + len(often) > 1 else "it"
    return Hunch(
        signal="file_access",
        subject=f"module {module}",
        kind=Kind.PREFETCH_PATTERN,
        text=f"Work in {code(module)} nearly always needs {list_code(always)}{more}: read {them} first.",
        evidence=evidence,
        files=(*always, *often)[:_USUAL],
        strength=min(share[path] for path in always),
        trigger={"files": [module]},
        payload={
            "module_trigger": module,
            "always": list(always[:_USUAL]),
            "frequently": list(often[:_USUAL]),
            "session_count": len(evidence),
        },
    )


def _mostly(share: float) -> str:
    return "nearly every session" if share >= policy.ALWAYS_SHARE else "most sessions"
