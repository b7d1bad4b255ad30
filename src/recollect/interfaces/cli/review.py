"""`recollect review` for scripts: what waits for a person, in groups and with evidence, and decisions by id.

At a terminal the command goes through the queue with single keys: see `review_terminal`.
"""

from __future__ import annotations

import argparse
import sys
from typing import TYPE_CHECKING, Any

from recollect.core.errors import InvalidField, RecollectError
from recollect.core.review import GROUPINGS, ReviewQuestion, was_said
from recollect.core.text import counted, excerpt
from recollect.interfaces.cli.console import FINE, MARGIN, Console, open_from, require_person, speaks_as_person

if TYPE_CHECKING:
    from collections.abc import Mapping

    from recollect.app import Recollect
    from recollect.core.ids import MemoryId
    from recollect.core.records import Memory
    from recollect.core.review import Decided, ReviewEvidence, ReviewItem, ReviewPage

NOTHING_WAITS = "Nothing needs review."
_SESSIONS = 3  # sessions of an item that are named
_GROUPS = 20  # groups that are named where the one asked for is empty
_HISTORY = 5  # entries of a history that are shown as evidence
_CHARS = 100  # of the other side of a contradiction, and of a prompt
_HEADINGS = {
    ReviewQuestion.CONTRADICTION: "Contradictions: which one is right?",
    ReviewQuestion.DISPUTE: "Disputed: somebody doubts these",
    ReviewQuestion.STALE: "Stale: do these still hold?",
    ReviewQuestion.CANDIDATE: "Candidates: are these right?",
    ReviewQuestion.TAINTED: "From outside: words of these came from the web, a server or another person",
}
_DONE = {
    "confirm": "confirmed",
    "edit": "edited",
    "reject": "rejected",
    "dispute": "disputed",
    "keep_both": "kept_both",
    "correct": "corrected",
}


def arguments_review(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--limit", type=int, default=50, metavar="N", help="at most this many a page (default 50)")
    parser.add_argument("--cursor", metavar="CURSOR", help="the page after the one that gave this cursor")
    parser.add_argument("--question", choices=list(map(str, ReviewQuestion)), help="only those that ask this")
    parser.add_argument("--by", choices=GROUPINGS, help="how many wait by question, subject, file, module or kind")
    parser.add_argument("--group", metavar="NAME", help="with --by: only the items of this group")
    parser.add_argument("--list", action="store_true", help="show what waits and ask nothing, at a terminal too")
    parser.add_argument("--evidence", metavar="ID", help="where this was seen, by whom, and both sides")
    ids: dict[str, Any] = {"nargs": "+", "default": [], "metavar": "ID"}
    parser.add_argument("--confirm", **ids, help="these are right; what they contradict is closed")
    parser.add_argument("--reject", **ids, help="these are wrong and must not come back")
    parser.add_argument("--dispute", **ids, help="these are doubtful")
    parser.add_argument("--keep-both", **ids, help="these and what they contradict are both right")
    parser.add_argument(
        "--all-confirm", action="store_true", help="confirm all candidates in our own words or in a person's"
    )
    parser.add_argument("--tainted", action="store_true", help="with --all-confirm: also those in others' words")
    parser.add_argument("--why", default="", help="the reason, for the log")


def run_review(args: argparse.Namespace, console: Console) -> int:
    if args.confirm or args.all_confirm or args.keep_both:
        require_person(args, "confirm a memory or settle a contradiction")
    if args.limit < 1:
        raise InvalidField("limit", f"{args.limit} is too few: a page has at least 1")
    if args.group is not None and args.by is None:
        raise InvalidField("group", "say with --by what the groups are of")
    with open_from(args) as memory:
        if args.evidence:
            return _show_evidence(memory.review.evidence(args.evidence), console)
        if args.confirm or args.reject or args.dispute or args.keep_both or args.all_confirm:
            return _decide(memory, args, console)
        if args.by and args.group is None:
            return _show_groups(memory, args, console)
        if console.json or args.list or not (sys.stdin.isatty() and speaks_as_person(args)):
            return _show_page(memory, args, console)
        from recollect.interfaces.cli.review_terminal import walk

        return walk(memory, console, limit=args.limit, question=args.question, group=_group(args), why=args.why)


def _group(args: argparse.Namespace) -> tuple[str, str] | None:
    return None if args.group is None else (args.by, args.group)


# --- deciding by id ------------------------------------------------------------------------------------------------


def _decide(memory: Recollect, args: argparse.Namespace, console: Console) -> int:
    chosen: list[tuple[str, str, Mapping[MemoryId, int] | None]] = [(id, "confirm", None) for id in args.confirm]
    if args.all_confirm:
        spared = {memory.get(id).id for id in (*args.confirm, *args.reject, *args.dispute, *args.keep_both)}
        page = memory.review.list(limit=args.limit, question=args.question, group=_group(args))
        chosen += [
            (item.id, "confirm", item.revisions)
            for item in page.items
            if item.id not in spared and item.may_confirm_with_others(others_words=args.tainted)
        ]
    for decision in ("reject", "dispute", "keep_both"):
        chosen += [(id, decision, None) for id in getattr(args, decision)]
    try:
        done = memory.review.decide_many(chosen, why=args.why)
    except RecollectError:
        if len(chosen) > 1:
            console.note("Nothing was decided: all of these are decided together, or none.")
        raise
    waiting = memory.review.count()
    if console.json:
        ids = {name: [one.memory.id for one in done if one.decision == act] for act, name in _DECIDED.items()}
        settled = [{"id": one.id, "status": str(one.status)} for each in done for one in each.settled]
        console.value({**ids, "settled": settled, "waiting": waiting})
        return FINE
    for one in done:
        show_decided(one, console)
    console.line(f"{describe_decisions([one.decision for one in done])} {count_left(waiting)}")
    return FINE


_DECIDED = {act: name for act, name in _DONE.items() if act in ("confirm", "reject", "dispute", "keep_both")}


def show_decided(done: Decided, console: Console) -> None:
    """What a decision did, to the memory and to what it contradicts."""
    what = _DONE[done.decision].replace("_", " ").capitalize()
    console.lines(f"{what}: {done.memory.id}  {done.memory.content}", margin=MARGIN)
    for one in done.settled:
        became = f"now {one.status}" if one.needs_review or str(one.status) != "active" else "no longer in question"
        console.line(f"  {became}: {one.id}  {excerpt(one.content, _CHARS)}")


def describe_decisions(decisions: list[str]) -> str:
    """What was done, in one sentence."""
    parts = [f"{decisions.count(act)} {name.replace('_', ' ')}" for act, name in _DONE.items() if decisions.count(act)]
    return f"{', '.join(parts)}." if parts else "Nothing decided."


def count_left(waiting: int) -> str:
    """How many are left, in one sentence."""
    if not waiting:
        return NOTHING_WAITS
    return f"{waiting:,} {'memory needs' if waiting == 1 else 'memories need'} review."


# --- showing ---------------------------------------------------------------------------------------------------------


def _show_page(memory: Recollect, args: argparse.Namespace, console: Console) -> int:
    page = memory.review.list(limit=args.limit, cursor=args.cursor, question=args.question, group=_group(args))
    if console.json:
        from recollect.interfaces.payloads.review import review_page_json

        console.value({**review_page_json(page), "questions": memory.review.questions()})
        return FINE
    if not page.total and is_part(args.question, _group(args)):
        say_none_here(memory, console, question=args.question, group=_group(args))
        return FINE
    heading = None
    for item in page.items:
        if item.question != heading:
            heading = item.question
            console.line(_HEADINGS[heading])
        show_item(item, console)
    _show_end(page, memory.review.count(), console)
    return FINE


def _show_end(page: ReviewPage, waiting: int, console: Console) -> None:
    for id in page.damaged:
        console.note(f"  ! {id} is damaged; run `recollect check`")
    if page.cursor is not None:
        console.note(f"More: `recollect review --list --cursor {page.cursor}`")
    if waiting:
        console.line(
            f"{count_left(waiting)} Decide with `--confirm ID`, `--reject ID`, `--dispute ID` or `--keep-both ID`;"
            " `--evidence ID` shows why."
        )
    else:
        console.line(f"{NOTHING_WAITS} `recollect observe` learns from transcripts.")


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


def _show_groups(memory: Recollect, args: argparse.Namespace, console: Console) -> int:
    groups = memory.review.groups(args.by)
    if console.json:
        from recollect.interfaces.payloads.review import review_groups_json

        console.value(review_groups_json(groups))
        return FINE
    for group in groups:
        console.line(f"{group.count:6,}  {group.name or '(none)'}")
    console.line(count_left(memory.review.count()))
    return FINE


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
        console.line(f"  careful: {_describe_taint(memory)}")
    elif item.in_others_words and memory.source != "user_taught":
        console.line("  careful: in the words of a tool or an agent")


def _show_evidence(evidence: ReviewEvidence, console: Console) -> int:
    if console.json:
        from recollect.interfaces.payloads.review import review_evidence_json

        console.value(review_evidence_json(evidence))
        return FINE
    show_item(evidence.item, console)
    show_evidence(evidence, console)
    return FINE


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


# How words came in that no person is known to have typed; anything else is the name of a place.
_UNPROVEN = {
    "told in the answer of a tool": "a tool's output says that a person said it, and any program can print that",
    "pasted from what a tool printed": "it was pasted from what a tool printed",
    "told through the hook tool": "an agent passed it on as a person's words",
    "told in a transcript an agent handed in": "it stands in a transcript that an agent handed in",
    "wrapped in an agent's own instructions": "it stands among an agent's own instructions",
}


def _describe_taint(memory: Memory) -> str:
    where = str(memory.attributes.get("taint", "outside"))
    return _UNPROVEN.get(where, f"words of it came from {where}")


def _describe_origin(memory: Memory) -> str:
    when = f"{memory.happened_at:%Y-%m-%d}"
    match str(memory.source):
        case "user_taught":
            return f"taught by a person on {when}"
        case "agent_explicit":
            return f"added by an agent on {when}"
        case source:
            return f"{source.replace('_', ' ')}, {when}"
