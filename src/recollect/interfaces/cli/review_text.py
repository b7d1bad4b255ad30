"""What a review says at a terminal: an item, its evidence, what a decision did and what is left."""

from __future__ import annotations

from typing import TYPE_CHECKING

from recollect.core.review import ReviewQuestion, was_said
from recollect.core.text import counted, excerpt
from recollect.interfaces.cli.console import MARGIN, Console

if TYPE_CHECKING:
    from recollect.app import Recollect
    from recollect.core.records import Memory
    from recollect.core.review import Decided, ReviewEvidence, ReviewItem

NOTHING_WAITS = "Nothing needs review."
_SESSIONS = 3  # sessions of an item that are named
_GROUPS = 20  # groups that are named where the one asked for is empty
_HISTORY = 5  # entries of a history that are shown as evidence
_CHARS = 100  # of the other side of a contradiction, and of a prompt
DONE = {
    "confirm": "confirmed",
    "edit": "edited",
    "reject": "rejected",
    "dispute": "disputed",
    "keep_both": "kept_both",
    "correct": "corrected",
}
# How words came in that no person is known to have typed; anything else is the name of a place.
_UNPROVEN = {
    "told in the answer of a tool": "a tool's output says that a person said it, and any program can print that",
    "pasted from what a tool printed": "it was pasted from what a tool printed",
    "told through the hook tool": "an agent passed it on as a person's words",
    "told in a transcript an agent handed in": "it stands in a transcript that an agent handed in",
    "wrapped in an agent's own instructions": "it stands among an agent's own instructions",
}


def show_decided(done: Decided, console: Console) -> None:
    """What a decision did, to the memory and to what it contradicts."""
    what = DONE[done.decision].replace("_", " ").capitalize()
    console.lines(f"{what}: {done.memory.id}  {done.memory.content}", margin=MARGIN)
    for one in done.settled:
        became = f"now {one.status}" if one.needs_review or str(one.status) != "active" else "no longer in question"
        console.line(f"  {became}: {one.id}  {excerpt(one.content, _CHARS)}")


def describe_decisions(decisions: list[str]) -> str:
    """What was done, in one sentence."""
    parts = [f"{decisions.count(act)} {name.replace('_', ' ')}" for act, name in DONE.items() if decisions.count(act)]
    return f"{', '.join(parts)}." if parts else "Nothing decided."


def count_left(waiting: int) -> str:
    """How many are left, in one sentence."""
    if not waiting:
        return NOTHING_WAITS
    return f"{waiting:,} {'memory needs' if waiting == 1 else 'memories need'} review."


def is_part(question: str | None, group: tuple[str, str] | None) -> bool:
    """Was only a part of the queue asked for?"""
    return question is not None or group is not None


def say_none_here(memory: Recollect, console: Console, *, question: str | None, group: tuple[str, str] | None) -> None:
    """Say that a part of the queue has nothing in it, and where there is something."""
    asked = [f"asks the question {question!r}"] if question else []
    asked += [f"is in the {group[0]} group {group[1]!r}"] if group else []
    console.line(f"Nothing that needs review {' and '.join(asked)}.")
    by = group[0] if group else "question"
    groups = memory.review.groups(by)
    for one in groups[:_GROUPS]:
        console.line(f"{one.count:6,}  {one.name or '(none)'}")
    if len(groups) > _GROUPS:
        console.line(f"  and {len(groups) - _GROUPS:,} more; `recollect review --by {by}` lists them")
    console.line(count_left(memory.review.count()))


def show_item(item: ReviewItem, console: Console) -> None:
    """An item in a few lines: what it says, what it contradicts, how it was learnt, and what to be careful about."""
    memory = item.memory
    console.line(f"{memory.kind} · {memory.confidence:.0%} sure · {memory.id}")
    console.lines(f"  {memory.content}", margin=MARGIN)
    for rival in item.rivals:
        console.line(f"  contradicts: {excerpt(rival.content, _CHARS)}")
        console.line(f"               {_describe_origin(rival)} · {rival.id}")
    if item.sessions:
        named = ", ".join(item.sessions[-_SESSIONS:])
        more = f" and {len(item.sessions) - _SESSIONS} more" if len(item.sessions) > _SESSIONS else ""
        saves = f"; knowing it saves an agent about {item.saves:,} tokens" if item.saves else ""
        console.line(f"  seen in {counted(len(item.sessions), 'session')} ({named}{more}){saves}")
    else:
        console.line(f"  {_describe_origin(memory)}")
    if memory.stale_at is not None and item.question is ReviewQuestion.STALE:
        console.line(f"  stale since {memory.stale_at:%Y-%m-%d}")
    if item.tainted:
        console.line(f"  careful: {describe_taint(memory)}")
    elif item.in_others_words and memory.source != "user_taught":
        console.line("  careful: in the words of a tool or an agent")


def show_evidence(evidence: ReviewEvidence, console: Console) -> None:
    """Where it was seen, what it was drawn from, and what happened to it and to the other side."""
    console.line(f"  Evidence: seen {counted(evidence.times, 'time')}" if evidence.times else "  Evidence:")
    for one in evidence.sightings:
        when = f"{one.at:%Y-%m-%d %H:%M}" if one.at else "date unknown"
        noun = "step" if len(one.steps) == 1 else "steps"
        said = "said at " if was_said(evidence.item.memory) else ""
        steps = f", {said}{noun} {', '.join(map(str, one.steps))}" if one.steps else ""
        asked = f', asked first: "{excerpt(one.prompt, _CHARS)}"' if one.prompt else ""
        console.line(f"    {when}  {one.host or 'session'} {one.session}{steps}{asked}")
    for source in evidence.sources:
        console.line(f"    drawn from {source.id}  {excerpt(source.content, _CHARS)}")
    histories = [("this", evidence.history)]
    histories += [(f"the other side, {id}", entries) for id, entries in evidence.rival_histories.items()]
    for whose, entries in histories:
        console.line(f"    History of {whose}:")
        for entry in entries[-_HISTORY:]:
            why = f": {excerpt(entry.change.why, _CHARS)}" if entry.change.why else ""
            door = f" by {entry.door}" if entry.door else ""
            console.line(f"      {entry.at:%Y-%m-%d %H:%M}  {entry.change.action} ({entry.actor}{door}){why}")


def describe_taint(memory: Memory) -> str:
    """Why a memory is not known to be a person's own words."""
    where = str(memory.attributes.get("taint", "outside"))
    return _UNPROVEN.get(where, f"part of it came from {where}")


def _describe_origin(memory: Memory) -> str:
    when = f"{memory.happened_at:%Y-%m-%d}"
    match str(memory.source):
        case "user_taught":
            return f"taught by a person on {when}"
        case "agent_explicit":
            return f"added by an agent on {when}"
        case source:
            return f"{source.replace('_', ' ')}, {when}"
