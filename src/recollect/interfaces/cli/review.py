"""`recollect review` for scripts: what waits for a person, in groups and with evidence, and decisions by id.

At a terminal the command goes through the queue with single keys: see `review_terminal`.
"""

from __future__ import annotations

import argparse
import sys
from typing import TYPE_CHECKING, Any

from recollect.core.errors import InvalidField, RecollectError
from recollect.core.review import GROUPINGS, ReviewQuestion
from recollect.interfaces.cli.console import FINE, Console, open_from, require_person, speaks_as_person
from recollect.interfaces.cli.review_text import (
    DONE,
    NOTHING_WAITS,
    count_left,
    describe_decisions,
    is_part,
    say_none_here,
    show_decided,
    show_evidence,
    show_item,
)

if TYPE_CHECKING:
    from collections.abc import Mapping

    from recollect.app import Recollect
    from recollect.core.ids import MemoryId
    from recollect.core.review import ReviewEvidence, ReviewPage

_HEADINGS = {
    ReviewQuestion.CONTRADICTION: "Contradictions: which one is right?",
    ReviewQuestion.DISPUTE: "Disputed: somebody doubts these",
    ReviewQuestion.STALE: "Stale: do these still hold?",
    ReviewQuestion.CANDIDATE: "Candidates: are these right?",
    ReviewQuestion.TAINTED: "From outside: part of these came from the web, a server or another person",
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


_DECIDED = {act: name for act, name in DONE.items() if act in ("confirm", "reject", "dispute", "keep_both")}


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


def _show_evidence(evidence: ReviewEvidence, console: Console) -> int:
    if console.json:
        from recollect.interfaces.payloads.review import review_evidence_json

        console.value(review_evidence_json(evidence))
        return FINE
    show_item(evidence.item, console)
    show_evidence(evidence, console)
    return FINE
