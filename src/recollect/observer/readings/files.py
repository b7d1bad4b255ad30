"""What files have to do with each other: changed together, needed first, looked at in vain, redone, contested."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence

from recollect.core.kinds import Kind
from recollect.core.lazy import Lazy
from recollect.core.observed import Contribution, FileSeen
from recollect.observer import gate
from recollect.observer.hunch import Hunch
from recollect.observer.past import Past
from recollect.observer.readings.recurring import recurring
from recollect.observer.wording import code, codes

_TESTING = Lazy(r"(?:[._-](?:test|tests|spec|e2e)\b)|(?:\btest_)|(?:/(?:tests?|__tests__|spec)/)")
_HABIT = Lazy(
    r"(?:^|/)(?:CHANGELOG|README|CLAUDE|AGENTS|LICENSE|TODO)[^/]*$|(?:^|/)(?:docs?|plans)/|\.lock$|\.gitignore$"
)
_PARTNERS = 3  # files named with another


def changed_together(seen: Contribution, past: Past) -> Iterator[Hunch]:
    """Two files of which one is rarely changed without the other, where the names do not say so already."""
    pairs = {
        pair: ids for pair, ids in past.changed_together().items() if len(ids) >= gate.GRADES["co_access"].sessions
    }
    counts = past.counts({path for pair in pairs for path in pair})
    for (one, other), ids in sorted(pairs.items()):
        if _obvious(one, other):
            continue
        with_one, with_other = (len(ids) / (counts[path].edited + gate.DOUBT) for path in (one, other))
        if max(with_one, with_other) < gate.TIED:
            continue
        if min(with_one, with_other) >= gate.TIED:
            text = f"{code(one)} and {code(other)} are {_mostly(min(with_one, with_other))} changed together."
        else:
            first, then = (one, other) if with_one > with_other else (other, one)
            text = f"A change of {code(first)} {_mostly(max(with_one, with_other))} needs one of {code(then)} too."
        yield Hunch(
            signal="co_access",
            subject=f"{one} + {other}",
            kind=Kind.CAUSAL_DEPENDENCY,
            text=text,
            sightings=tuple(past.sighting(id) for id in ids),
            files=(one, other),
            strength=max(with_one, with_other),
            trigger={"files": [one, other]},
        )


def prefetched(seen: Contribution, past: Past) -> Iterator[Hunch]:
    """Files that work in a folder nearly always needs."""
    worked = Counter(one.module for one in seen.files if one.edits)
    for module in sorted(worked):
        ids = past.sessions_in(module)
        if len(ids) < gate.MODULE_SESSIONS or module == "./":
            continue
        share = {path: held for path, held in past.used_in(ids, share=gate.OFTEN).items() if not _HABIT.search(path)}
        always = sorted((path for path in share if share[path] > gate.ALWAYS), key=lambda path: (-share[path], path))
        often = sorted(
            (path for path in share if gate.OFTEN < share[path] <= gate.ALWAYS), key=lambda path: (-share[path], path)
        )
        if not always or (len(always) == 1 and all(path.startswith(module) for path in (*always, *often))):
            continue  # that a folder's work needs the folder's main file goes without saying
        more = f", often {codes(often)} too" if often else ""
        them = "them" if len(always) + len(often) > 1 else "it"
        yield Hunch(
            signal="file_access",
            subject=f"module {module}",
            kind=Kind.PREFETCH_PATTERN,
            text=f"Work in {code(module)} nearly always needs {codes(always)}{more}: read {them} first.",
            sightings=tuple(past.sighting(id) for id in ids),
            files=(*always, *often)[:12],
            strength=max(share.values()),
            trigger={"files": [module]},
            payload={
                "module_trigger": module,
                "always": always[:12],
                "frequently": often[:12],
                "session_count": len(ids),
            },
        )


def hard_to_read(seen: Contribution, past: Past) -> Iterator[Hunch]:
    """Files that several sessions read again and again without changing them."""
    for path, sightings in past.signals("file_access", hunch="hard to read").items():
        hard = [(id, one) for id, one in sightings if one.hunch == "hard to read"]
        if not hard or hard[-1][0] != seen.session.id or _HABIT.search(path):
            continue
        text = (
            f"{code(path)} takes several readings: agents come back to it again and again without changing it. "
            "Search it for the name you need."
        )
        yield recurring("file_access", f"hard {path}", Kind.MODULE_INSIGHT, text, hard, (path,))


def wrong_places(seen: Contribution, past: Past) -> Iterator[Hunch]:
    """Files that are opened first and left at once, and where the work went instead."""
    found = past.signals("read_abandon")
    counts = past.counts(found)
    for path, sightings in found.items():
        share = len(sightings) / max(1, counts[path].sessions)
        if share < gate.MOSTLY or len(sightings) < gate.GRADES["read_abandon"].sessions:
            continue
        files = past.files_of(id for id, _ in sightings)
        went = [one for one in _edited_in(files.values()) if one != path and not _TESTING.search(one)]
        if not went:
            continue
        text = f"{code(path)} looks like the place to start and usually is not: the work was in {codes(went, most=2)}."
        yield recurring("read_abandon", path, Kind.GOTCHA, text, sightings, (path, *went[:2]), strength=share)


def redone(seen: Contribution, past: Past) -> Iterator[Hunch]:
    """Files whose first change is usually redone: something was unread, a change elsewhere or a check was missing."""
    found = past.signals("backtrack")
    counts = past.counts(found)
    for path, sightings in found.items():
        for cause in ("cascading change", "missing context", "wrong assumption"):
            same = [(id, one) for id, one in sightings if one.hunch == cause]
            if not same or same[-1][0] != seen.session.id or len(same) < gate.GRADES["backtrack"].sessions:
                continue
            share = len(same) / max(1, counts[path].edited)
            others = _common([one.paths for _, one in same], but=path)
            text = _redone(path, cause, others, share, len(same))
            if text:
                yield recurring(
                    "backtrack", f"{cause} {path}", Kind.GOTCHA, text, same, (path, *others), strength=share
                )


def _redone(path: str, cause: str, others: Sequence[str], share: float, sessions: int) -> str:
    others = [one for one in others if not _obvious(path, one)]
    if cause == "cascading change" and others:
        return f"A change of {code(path)} pulls {codes(others, most=2)} along: change them in one go."
    if cause == "missing context" and others:
        return f"Read {codes(others, most=2)} before changing {code(path)}: changes made without it were redone."
    if cause == "wrong assumption" and share >= gate.MOSTLY and sessions > gate.GRADES["backtrack"].sessions:
        return f"First changes of {code(path)} usually fail and are redone: change little and check after each change."
    return ""


def settings(seen: Contribution, past: Past) -> Iterator[Hunch]:
    """Configuration files and what is changed with them."""
    for path, sightings in past.signals("config_touch").items():
        others = [one for one in _common([one.paths for _, one in sightings], but=path) if not _HABIT.search(one)]
        if others:
            text = (
                f"{code(path)} and {codes(others, most=2)} are changed together: check one when you change the other."
            )
            yield recurring("config_touch", path, Kind.CAUSAL_DEPENDENCY, text, sightings, (path, *others[:2]))


def contested(seen: Contribution, past: Past) -> Iterator[Hunch]:
    """Files that something else changes while an agent works on them."""
    for path, sightings in past.signals("parallel_conflict").items():
        newest = sightings[-1][1]
        if not newest.paths:
            continue
        who = (
            "several agents change it at once"
            if newest.hunch.startswith("edited by")
            else "a formatter, a hook or a person changes it meanwhile"
        )
        text = f"{code(path)} changes under the agent's hands ({who}): read it again right before every change."
        yield recurring("parallel_conflict", path, Kind.GOTCHA, text, sightings, (path,))


def chains(seen: Contribution, past: Past) -> Iterator[Hunch]:
    """Files that can only be followed through others."""
    for ends, sightings in past.signals("import_chase").items():
        chain = sightings[-1][1].paths
        if len(chain) >= gate.CHAIN:
            text = f"To follow {code(chain[0])} you need {codes(chain[1:])}: it leads there through its imports."
            yield recurring("import_chase", ends, Kind.CAUSAL_DEPENDENCY, text, sightings, tuple(chain))


def _common(lists: Sequence[Sequence[str]], *, but: str) -> list[str]:
    """What at least two of some lists share, the most frequent first."""
    times = Counter(item for one in lists for item in dict.fromkeys(one) if item != but)
    shared = [item for item, count in times.items() if count >= 2]
    return sorted(shared, key=lambda item: (-times[item], item))[:_PARTNERS]


def _edited_in(sessions: Iterable[Sequence[FileSeen]]) -> list[str]:
    return _common([[one.path for one in files if one.edits] for files in sessions], but="")


def _obvious(one: str, other: str) -> bool:
    """A file and its test, or files that every change touches: nobody needs to be told."""
    if _HABIT.search(one) or _HABIT.search(other):
        return True
    if _TESTING.search(one) and _TESTING.search(other):
        return True
    mine, theirs = _stem(one), _stem(other)
    if _TESTING.search(one) or _TESTING.search(other):
        return mine.startswith(theirs) or theirs.startswith(mine)
    return mine == theirs


def _mostly(share: float) -> str:
    return "nearly always" if share >= gate.ALWAYS else "usually"


def _stem(path: str) -> str:
    base = path.rsplit("/", 1)[-1].split(".", 1)[0].casefold()
    for mark in ("_test", "-test", "test_", "_spec", "_tests"):
        base = base.replace(mark, "")
    return base
