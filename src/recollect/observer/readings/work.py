"""How work is done here: where things are found, in which order tests run, which rounds repeat, what costs much."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence

from recollect.core.kinds import Kind
from recollect.core.lazy import Lazy
from recollect.core.observed import Contribution
from recollect.observer import gate
from recollect.observer.hunch import Hunch
from recollect.observer.past import Past
from recollect.observer.readings.recurring import recurring
from recollect.observer.tool_calls import is_shell
from recollect.observer.wording import code, codes

_ARROW = " → "
_VENDORED = Lazy(r"(?:^|/)(?:node_modules|vendor|dist|build|target|\.venv|site-packages)/")
_RUN = "run "
_NAME = Lazy(r"^[\w.:-]{6,80}$")  # a searched pattern that is one name
_WIDE = 6  # files a listing must offer to be called wide


def searched_for(seen: Contribution, past: Past) -> Iterator[Hunch]:
    """What is searched for again and again, and where it was found."""
    for pattern, sightings in past.signals("repeated_grep").items():
        if not _NAME.search(pattern):
            continue
        places = Counter(path for _, one in sightings for path in dict.fromkeys(one.paths))
        best = [path for path, times in places.most_common(3) if times == max(places.values())]
        if best:
            text = f"Looking for {code(pattern)}? It is in {codes(best, most=2)}."
            yield recurring("repeated_grep", pattern, Kind.MODULE_INSIGHT, text, sightings, tuple(best))


def order_of_tests(seen: Contribution, past: Past) -> Iterator[Hunch]:
    """The order in which test commands are run, where one order clearly prevails."""
    found = past.signals("test_order")
    reverse = past.sessions_with("test_order", [_ARROW.join(reversed(order.split(_ARROW, 1))) for order in found])
    for order, sightings in found.items():
        first, _, then = order.partition(_ARROW)
        if (
            len(sightings) < gate.PREVAILS * reverse.get(f"{then}{_ARROW}{first}", 0)
            or _is_path(then)
            or _is_path(first)
        ):
            continue
        text = f"Tests are run in this order here: {code(first)} first, {code(then)} after it."
        yield recurring("test_order", order, Kind.TASK_CALIBRATION, text, sightings)


def recipes(seen: Contribution, past: Past) -> Iterator[Hunch]:
    """Rounds of commands that sessions repeat."""
    for order, sightings in past.signals("tool_sequence").items():
        parts = _from_the_start(order.split(_ARROW))
        ran = list(dict.fromkeys(part.removeprefix(_RUN) for part in parts if part.startswith(_RUN) and part != _RUN))
        if len(ran) < 2:
            continue
        steps = [f"run {part.removeprefix(_RUN)}" if part.startswith(_RUN) else part for part in parts]
        text = f"The usual round here: {', then '.join(_told(part) for part in parts)}."
        payload = {"task_pattern": ran[0], "steps": steps, "success_count": len(sightings)}
        yield recurring("tool_sequence", _ARROW.join(parts), Kind.WORKFLOW_RECIPE, text, sightings, payload=payload)


def overruns(seen: Contribution, past: Past) -> Iterator[Hunch]:
    """Plans that take more steps than expected, over all sessions that had one."""
    sightings = past.every("step_overrun")
    if not any(id == seen.session.id for id, _ in sightings):
        return
    planned = [int(one.subject.split(" ", 1)[0]) for _, one in sightings]
    taken = [one.measure * number * gate.PLANNED_STEPS for number, (_, one) in zip(planned, sightings, strict=True)]
    each = sum(taken) / max(1, sum(planned))
    text = f"A planned item takes about {max(5, round(each / 5) * 5)} steps here: expect that, or plan smaller ones."
    payload = {
        "module": "./",
        "average_actual_steps": round(sum(taken) / len(taken), 1),
        "average_planned_steps": round(sum(planned) * gate.PLANNED_STEPS / len(planned), 1),
        "ratio": round(each / gate.PLANNED_STEPS, 2),
        "samples": len(sightings),
    }
    yield recurring("step_overrun", "plans", Kind.TASK_CALIBRATION, text, sightings, payload=payload)


def fruitless(seen: Contribution, past: Past) -> Iterator[Hunch]:
    """Listings of which nothing is ever opened."""
    for pattern, sightings in past.signals("glob_ignore").items():
        offered = [path for _, one in sightings for path in one.paths]
        vendored = sum(bool(_VENDORED.search(path)) for path in offered) > len(offered) / 2
        if not vendored and len(set(offered)) < _WIDE:
            continue
        why = "it finds mostly files of other people's packages" if vendored else "nothing it finds is opened"
        text = f"Listing {code(pattern)} leads nowhere: {why}. Search for a name instead."
        yield recurring("glob_ignore", pattern, Kind.GOTCHA, text, sightings)


def large(seen: Contribution, past: Past) -> Iterator[Hunch]:
    """What fills the context at one stroke."""
    for what, sightings in past.signals("context_token_spike").items():
        paths = sightings[-1][1].paths
        tokens = max(one.measure for _, one in sightings)
        size = f"about {round(tokens / 1000)},000 tokens"
        if paths:
            text = f"{code(paths[0])} is large ({size}): read the part you need, not the whole file."
        elif not is_shell(what.partition(" ")[0]) or " " not in what:
            continue
        else:
            text = f"{code(what.partition(' ')[2])} prints a lot ({size}): cut its output down."
        yield recurring("context_token_spike", what, Kind.CONTEXT_COST, text, sightings, tuple(paths[:1]))


def looked_up(seen: Contribution, past: Past) -> Iterator[Hunch]:
    """Pages outside the project that work keeps coming back to."""
    for subject, sightings in past.signals("external_reference").items():
        if "://" not in subject:
            continue
        files = tuple(dict.fromkeys(path for _, one in reversed(sightings) for path in one.paths))[:3]
        text = f"{code(subject)} is looked up again and again for work on {codes(files, most=2)}."
        yield recurring("external_reference", subject, Kind.MODULE_INSIGHT, text, sightings, files)


def _from_the_start(parts: Sequence[str]) -> list[str]:
    """A round that goes on and on is the same wherever one begins to look: it is told from its first deed by hand."""
    turns = [[*parts[place:], *parts[:place]] for place in range(len(parts))]
    return min(turns, key=lambda turn: (turn[0].startswith(_RUN), not turn[-1].startswith(_RUN), turn))


def _told(part: str) -> str:
    return code(part.removeprefix(_RUN)) if part.startswith(_RUN) else part


def _is_path(command: str) -> bool:
    """A run of some folder's tests is work on that folder, not the order of the project."""
    return any("/" in word for word in command.split()[1:])
