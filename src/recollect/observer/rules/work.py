"""Rules about files and ways of working: what is changed together, needed first, read in vain or redone; where things
are found, in which order tests run, which rounds repeat, what costs much.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence

from recollect.core.kinds import Kind
from recollect.core.lazy import Lazy
from recollect.core.observed import Contribution, FileSeen
from recollect.observer import policy
from recollect.observer.history import History
from recollect.observer.hunch import Hunch, code, list_code, recurring_hunch
from recollect.observer.tool_calls import is_shell

_TESTING = Lazy(r"(?:[._-](?:test|tests|spec|e2e)\b)|(?:\btest_)|(?:/(?:tests?|__tests__|spec)/)")
_HABIT = Lazy(
    r"(?:^|/)(?:CHANGELOG|README|CLAUDE|AGENTS|LICENSE|TODO)[^/]*$|(?:^|/)(?:docs?|plans)/|\.lock$|\.gitignore$"
)
_PARTNERS = 3  # files named with another


def changed_together(seen: Contribution, past: History) -> Iterator[Hunch]:
    """Two files of which one is rarely changed without the other, where the names do not say so already."""
    pairs = {
        pair: ids for pair, ids in past.changed_together().items() if len(ids) >= policy.GRADES["co_access"].sessions
    }
    counts = past.counts({path for pair in pairs for path in pair})
    for (one, other), ids in sorted(pairs.items()):
        if _obvious(one, other):
            continue
        with_one, with_other = (len(ids) / (counts[path].edited + policy.DOUBT_OCCASIONS) for path in (one, other))
        if max(with_one, with_other) < policy.TIED_SHARE:
            continue
        if min(with_one, with_other) >= policy.TIED_SHARE:
            text = f"{code(one)} and {code(other)} are {_mostly(min(with_one, with_other))} changed together."
        else:
            first, then = (one, other) if with_one > with_other else (other, one)
            text = f"A change of {code(first)} {_mostly(max(with_one, with_other))} needs one of {code(then)} too."
        yield Hunch(
            signal="co_access",
            subject=f"{one} + {other}",
            kind=Kind.CAUSAL_DEPENDENCY,
            text=text,
            evidence=tuple(past.evidence(id) for id in ids),
            files=(one, other),
            strength=max(with_one, with_other),
            trigger={"files": [one, other]},
        )


def prefetched(seen: Contribution, past: History) -> Iterator[Hunch]:
    """Files that work in a folder nearly always needs."""
    worked = Counter(file.module for file in seen.files if file.edits)
    for module in sorted(worked):
        ids = past.sessions_in(module)
        if len(ids) < policy.MIN_MODULE_SESSIONS or module == "./":
            continue
        share = {
            path: held for path, held in past.used_in(ids, share=policy.OFTEN_SHARE).items() if not _HABIT.search(path)
        }
        always = sorted(
            (path for path in share if share[path] > policy.ALWAYS_SHARE), key=lambda path: (-share[path], path)
        )
        often = sorted(
            (path for path in share if policy.OFTEN_SHARE < share[path] <= policy.ALWAYS_SHARE),
            key=lambda path: (-share[path], path),
        )
        if not always or (len(always) == 1 and all(path.startswith(module) for path in (*always, *often))):
            continue  # that a folder's work needs the folder's main file goes without saying
        more = f", often {list_code(often)} too" if often else ""
        them = "them" if len(always) + len(often) > 1 else "it"
        yield Hunch(
            signal="file_access",
            subject=f"module {module}",
            kind=Kind.PREFETCH_PATTERN,
            text=f"Work in {code(module)} nearly always needs {list_code(always)}{more}: read {them} first.",
            evidence=tuple(past.evidence(id) for id in ids),
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


def hard_to_read(seen: Contribution, past: History) -> Iterator[Hunch]:
    """Files that several sessions read again and again without changing them."""
    for path, occurrences in past.signals("file_access", hunch="hard to read").items():
        hard = [(id, one) for id, one in occurrences if one.hunch == "hard to read"]
        if not hard or hard[-1][0] != seen.session.id or _HABIT.search(path):
            continue
        text = (
            f"{code(path)} takes several readings: agents come back to it again and again without changing it. "
            "Search it for the name you need."
        )
        yield recurring_hunch("file_access", f"hard {path}", Kind.MODULE_INSIGHT, text, hard, (path,))


def wrong_places(seen: Contribution, past: History) -> Iterator[Hunch]:
    """Files that are opened first and left at once, and where the work went instead."""
    found = past.signals("read_abandon")
    counts = past.counts(found)
    for path, occurrences in found.items():
        share = len(occurrences) / max(1, counts[path].sessions)
        if share < policy.USUAL_SHARE or len(occurrences) < policy.GRADES["read_abandon"].sessions:
            continue
        files = past.files_of(id for id, _ in occurrences)
        went = [one for one in _edited_in(files.values()) if one != path and not _TESTING.search(one)]
        if not went:
            continue
        text = (
            f"{code(path)} looks like the place to start and usually is not: the work was in {list_code(went, most=2)}."
        )
        yield recurring_hunch("read_abandon", path, Kind.GOTCHA, text, occurrences, (path, *went[:2]), strength=share)


def redone(seen: Contribution, past: History) -> Iterator[Hunch]:
    """Files whose first change is usually redone: something was unread, a change elsewhere or a check was missing."""
    found = past.signals("backtrack")
    counts = past.counts(found)
    for path, occurrences in found.items():
        for cause in ("cascading change", "missing context", "wrong assumption"):
            same = [(id, one) for id, one in occurrences if one.hunch == cause]
            if not same or same[-1][0] != seen.session.id or len(same) < policy.GRADES["backtrack"].sessions:
                continue
            share = len(same) / max(1, counts[path].edited)
            others = _common([one.paths for _, one in same], but=path)
            text = _describe_redone(path, cause, others, share, len(same))
            if text:
                yield recurring_hunch(
                    "backtrack", f"{cause} {path}", Kind.GOTCHA, text, same, (path, *others), strength=share
                )


def _describe_redone(path: str, cause: str, others: Sequence[str], share: float, sessions: int) -> str:
    others = [other for other in others if not _obvious(path, other)]
    if cause == "cascading change" and others:
        return f"A change of {code(path)} pulls {list_code(others, most=2)} along: change them in one go."
    if cause == "missing context" and others:
        return f"Read {list_code(others, most=2)} before changing {code(path)}: changes made without it were redone."
    if cause == "wrong assumption" and share >= policy.USUAL_SHARE and sessions > policy.GRADES["backtrack"].sessions:
        return f"First changes of {code(path)} usually fail and are redone: change little and check after each change."
    return ""


def settings(seen: Contribution, past: History) -> Iterator[Hunch]:
    """Configuration files and what is changed with them."""
    for path, occurrences in past.signals("config_touch").items():
        others = [one for one in _common([one.paths for _, one in occurrences], but=path) if not _HABIT.search(one)]
        if others:
            named = list_code(others, most=2)
            text = f"{code(path)} and {named} are changed together: check one when you change the other."
            yield recurring_hunch("config_touch", path, Kind.CAUSAL_DEPENDENCY, text, occurrences, (path, *others[:2]))


def contested(seen: Contribution, past: History) -> Iterator[Hunch]:
    """Files that something else changes while an agent works on them."""
    for path, occurrences in past.signals("parallel_conflict").items():
        newest = occurrences[-1][1]
        if not newest.paths:
            continue
        who = (
            "several agents change it at once"
            if newest.hunch.startswith("edited by")
            else "a formatter, a hook or a person changes it meanwhile"
        )
        text = f"{code(path)} changes under the agent's hands ({who}): read it again right before every change."
        yield recurring_hunch("parallel_conflict", path, Kind.GOTCHA, text, occurrences, (path,))


def chains(seen: Contribution, past: History) -> Iterator[Hunch]:
    """Files that can only be followed through others."""
    for ends, occurrences in past.signals("import_chase").items():
        chain = occurrences[-1][1].paths
        if len(chain) >= policy.CHAIN_FILES:
            text = f"To follow {code(chain[0])} you need {list_code(chain[1:])}: it leads there through its imports."
            yield recurring_hunch("import_chase", ends, Kind.CAUSAL_DEPENDENCY, text, occurrences, tuple(chain))


def _common(lists: Sequence[Sequence[str]], *, but: str) -> list[str]:
    """What at least two of some lists share, the most frequent first."""
    times = Counter(item for one in lists for item in dict.fromkeys(one) if item != but)
    shared = [item for item, count in times.items() if count >= 2]
    return sorted(shared, key=lambda item: (-times[item], item))[:_PARTNERS]


def _edited_in(sessions: Iterable[Sequence[FileSeen]]) -> list[str]:
    return _common([[file.path for file in files if file.edits] for files in sessions], but="")


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
    return "nearly always" if share >= policy.ALWAYS_SHARE else "usually"


def _stem(path: str) -> str:
    base = path.rsplit("/", 1)[-1].split(".", 1)[0].casefold()
    for mark in ("_test", "-test", "test_", "_spec", "_tests"):
        base = base.replace(mark, "")
    return base


# --- ways of working -----------------------------------------------------------------------------------------------


_ARROW = " → "
_VENDORED = Lazy(r"(?:^|/)(?:node_modules|vendor|dist|build|target|\.venv|site-packages)/")
_RUN = "run "
_NAME = Lazy(r"^[\w.:-]{6,80}$")  # a searched pattern that is one name


def searched_for(seen: Contribution, past: History) -> Iterator[Hunch]:
    """What is searched for again and again, and where it was found."""
    for pattern, occurrences in past.signals("repeated_grep").items():
        if not _NAME.search(pattern):
            continue
        places = Counter(path for _, one in occurrences for path in dict.fromkeys(one.paths))
        best = [path for path, times in places.most_common(3) if times == max(places.values())]
        if best:
            text = f"Looking for {code(pattern)}? It is in {list_code(best, most=2)}."
            yield recurring_hunch("repeated_grep", pattern, Kind.MODULE_INSIGHT, text, occurrences, tuple(best))


def order_of_tests(seen: Contribution, past: History) -> Iterator[Hunch]:
    """The order in which test commands are run, where one order clearly prevails."""
    found = past.signals("test_order")
    reverse = past.sessions_with("test_order", [_ARROW.join(reversed(order.split(_ARROW, 1))) for order in found])
    for order, occurrences in found.items():
        first, _, then = order.partition(_ARROW)
        if (
            len(occurrences) < policy.PREVAILING_RATIO * reverse.get(f"{then}{_ARROW}{first}", 0)
            or _is_path(then)
            or _is_path(first)
        ):
            continue
        text = f"Tests are run in this order here: {code(first)} first, {code(then)} after it."
        yield recurring_hunch("test_order", order, Kind.TASK_CALIBRATION, text, occurrences)


def recipes(seen: Contribution, past: History) -> Iterator[Hunch]:
    """Rounds of commands that sessions repeat."""
    for order, occurrences in past.signals("tool_sequence").items():
        parts = _from_the_start(order.split(_ARROW))
        ran = list(dict.fromkeys(part.removeprefix(_RUN) for part in parts if part.startswith(_RUN) and part != _RUN))
        if len(ran) < 2:
            continue
        steps = [f"run {part.removeprefix(_RUN)}" if part.startswith(_RUN) else part for part in parts]
        text = f"The usual round here: {', then '.join(_describe_step(part) for part in parts)}."
        payload = {"task_pattern": ran[0], "steps": steps, "success_count": len(occurrences)}
        yield recurring_hunch(
            "tool_sequence", _ARROW.join(parts), Kind.WORKFLOW_RECIPE, text, occurrences, payload=payload
        )


def overruns(seen: Contribution, past: History) -> Iterator[Hunch]:
    """Plans that take more steps than expected, over all sessions that had one."""
    occurrences = past.every("step_overrun")
    if not any(id == seen.session.id for id, _ in occurrences):
        return
    planned = [int(one.subject.split(" ", 1)[0]) for _, one in occurrences]
    taken = [
        one.measure * number * policy.STEPS_PER_PLANNED_ITEM
        for number, (_, one) in zip(planned, occurrences, strict=True)
    ]
    each = sum(taken) / max(1, sum(planned))
    text = f"A planned item takes about {max(5, round(each / 5) * 5)} steps here: expect that, or plan smaller ones."
    payload = {
        "module": "./",
        "average_actual_steps": round(sum(taken) / len(taken), 1),
        "average_planned_steps": round(sum(planned) * policy.STEPS_PER_PLANNED_ITEM / len(planned), 1),
        "ratio": round(each / policy.STEPS_PER_PLANNED_ITEM, 2),
        "samples": len(occurrences),
    }
    yield recurring_hunch("step_overrun", "plans", Kind.TASK_CALIBRATION, text, occurrences, payload=payload)


def fruitless(seen: Contribution, past: History) -> Iterator[Hunch]:
    """Listings of which nothing is ever opened."""
    for pattern, occurrences in past.signals("glob_ignore").items():
        offered = [path for _, one in occurrences for path in one.paths]
        vendored = sum(bool(_VENDORED.search(path)) for path in offered) > len(offered) / 2
        if not vendored and len(set(offered)) < policy.WIDE_LISTING_FILES:
            continue
        why = "it finds mostly files of other people's packages" if vendored else "nothing it finds is opened"
        text = f"Listing {code(pattern)} leads nowhere: {why}. Search for a name instead."
        yield recurring_hunch("glob_ignore", pattern, Kind.GOTCHA, text, occurrences)


def large(seen: Contribution, past: History) -> Iterator[Hunch]:
    """What fills the context at one stroke."""
    for what, occurrences in past.signals("context_token_spike").items():
        paths = occurrences[-1][1].paths
        tokens = max(one.measure for _, one in occurrences)
        size = f"about {round(tokens / 1000)},000 tokens"
        if paths:
            text = f"{code(paths[0])} is large ({size}): read the part you need, not the whole file."
        elif not is_shell(what.partition(" ")[0]) or " " not in what:
            continue
        else:
            text = f"{code(what.partition(' ')[2])} prints a lot ({size}): cut its output down."
        yield recurring_hunch("context_token_spike", what, Kind.CONTEXT_COST, text, occurrences, tuple(paths[:1]))


def looked_up(seen: Contribution, past: History) -> Iterator[Hunch]:
    """Pages outside the project that work keeps coming back to."""
    for subject, occurrences in past.signals("external_reference").items():
        if "://" not in subject:
            continue
        files = tuple(dict.fromkeys(path for _, one in reversed(occurrences) for path in one.paths))[:3]
        text = f"{code(subject)} is looked up again and again for work on {list_code(files, most=2)}."
        yield recurring_hunch("external_reference", subject, Kind.MODULE_INSIGHT, text, occurrences, files)


def _from_the_start(parts: Sequence[str]) -> list[str]:
    """A round that goes on and on is the same wherever one begins to look: it is told from its first action by hand."""
    turns = [[*parts[place:], *parts[:place]] for place in range(len(parts))]
    return min(turns, key=lambda turn: (turn[0].startswith(_RUN), not turn[-1].startswith(_RUN), turn))


def _describe_step(part: str) -> str:
    return code(part.removeprefix(_RUN)) if part.startswith(_RUN) else part


def _is_path(command: str) -> bool:
    """A run of some folder's tests is work on that folder, not the order of the project."""
    return any("/" in word for word in command.split()[1:])
