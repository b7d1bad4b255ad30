"""Commands about conversations: how things stand, what was done by itself, facts, entities."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from recollect.core.errors import InvalidField
from recollect.core.query import Filter
from recollect.core.scope import Status
from recollect.core.text import counted, excerpt
from recollect.core.turns import Turn
from recollect.interfaces.cli.console import FINE, Console, open_from
from recollect.interfaces.payloads import entry_json, memory_json
from recollect.interfaces.reports import standing, turn_json

if TYPE_CHECKING:
    from recollect.app import Recollect
    from recollect.core.entities import Entity
    from recollect.core.ledger import Entry


# --- status and logs -----------------------------------------------------------------------------------------------


def arguments_status(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--limit", type=int, default=5, metavar="N", help="sessions to list (default 5)")


def run_status(args: argparse.Namespace, console: Console) -> int:
    with open_from(args) as memory:
        status = standing(memory, limit=args.limit)
    if console.json:
        console.value(status)
        return FINE
    console.line(f"memories   {_counts(status['memories'])}")
    console.line(f"sessions   {_counts(status['sessions'])}")
    for one in status["latest"]:
        episodes = counted(one["episodes"], "episode")
        console.line(f"           {one['id']} · {one['state']} · {episodes} · {one['last_at'][:16]}")
    console.line(f"entities   {_counts(status['entities'])}")
    turns = status["turns"]
    by = f" · by {_counts(turns['providers'])}" if turns["providers"] else ""
    console.line(f"turns      {_counts(turns['states'])}{by}")
    console.line(f"observer   {_observed(status['observer'])}")
    spend = status["spend"]
    console.line(f"model      {spend['model']} · {spend['today']:,} of {spend['per_day']:,} tokens today")
    for cost in spend["features"]:
        console.line(
            f"           {cost['feature']}: {cost['tokens']:,} tokens, {cost['calls']} calls, {cost['failures']} failed"
        )
    for job in status["jobs"]:
        told = f" · {job['note']}" if job["note"] else ""
        console.line(f"job        {job['name']} · {job['outcome'] or 'never ran'} · last {job['ran_at'] or '–'}{told}")
    return FINE


def _observed(seen: dict[str, Any]) -> str:
    if not seen["sessions"]:
        return "nothing observed yet; `recollect observe` learns from transcripts"
    parts = [counted(seen[f"{noun}s"], noun) for noun in ("session", "call", "error")]
    if seen["waiting"]:
        parts.append(f"{seen['waiting']:,} waiting for `recollect review`")
    if seen["slow_events"]:
        parts.append(f"{seen['slow_events']:,} of {seen['events']:,} events took over 2 ms")
    return " · ".join(parts)


def arguments_logs(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--limit", type=int, default=20, metavar="N")
    parser.add_argument("--job", metavar="NAME", help="only what this job did")
    parser.add_argument("--turns", action="store_true", help="only turns of chats")
    parser.add_argument("--session", metavar="NAME", help="only turns of this session")


def run_logs(args: argparse.Namespace, console: Console) -> int:
    with open_from(args) as memory:
        entries = [] if args.turns or args.session else _done(memory, args)
        turns = () if args.job else memory.chats.turns(session=args.session, limit=max(0, args.limit))
    both: list[Entry | Turn] = [*entries, *turns]
    both = sorted(both, key=lambda one: one.at, reverse=True)[: max(0, args.limit)]
    if console.json:
        console.value([turn_json(one) if isinstance(one, Turn) else entry_json(one) for one in both])
        return FINE
    for one in both:
        show_turn(one, console) if isinstance(one, Turn) else _show_job(one, console)
    if not both:
        console.line("Nothing was said or done by itself yet. `recollect tend` does what is due.")
    return FINE


def _done(memory: Recollect, args: argparse.Namespace) -> list[Entry]:
    entries = memory.store.ledger.doing("tend", max(0, args.limit) if args.job is None else 10_000)
    return [entry for entry in entries if args.job in (None, (entry.change.after or {}).get("job"))]


def _show_job(entry: Entry, console: Console) -> None:
    told = entry.change.after or {}
    details = ", ".join(f"{value} {name}" for name, value in told.get("details", {}).items())
    console.line(
        f"{entry.at:%Y-%m-%d %H:%M} {told.get('job', '?')} {told.get('outcome', '?')}"
        f" · {told.get('done', 0)} done, {told.get('waiting', 0)} waiting{f' · {details}' if details else ''}"
    )
    for note in told.get("notes", ()):
        console.line(f"                 ! {note}")


def show_turn(turn: Turn, console: Console) -> None:
    """A turn in a few lines."""
    calls = f" · {', '.join(call.name for call in turn.calls)}" if turn.calls else ""
    spent = f" · {turn.tokens_in + turn.tokens_out:,} tokens" if turn.tokens_in else ""
    console.line(f"{turn.at:%Y-%m-%d %H:%M} {turn.session} {turn.state} · {turn.provider}{calls}{spent}")
    console.line(f"                 > {excerpt(turn.input, 100)}")
    if turn.output:
        console.line(f"                 < {excerpt(turn.output, 100)}")
    if turn.note:
        console.line(f"                 ! {excerpt(turn.note, 200)}")


# --- facts ---------------------------------------------------------------------------------------------------------


def arguments_facts(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--session", help="only those drawn from this session")
    parser.add_argument("--all", action="store_true", help="also superseded, rejected and expired ones")
    parser.add_argument("--limit", type=int, default=50, metavar="N")


def run_facts(args: argparse.Namespace, console: Console) -> int:
    filter = Filter(statuses=frozenset(Status)) if args.all else Filter()
    with open_from(args) as memory:
        facts = memory.sessions.facts(session=args.session, filter=filter, limit=max(0, args.limit))
    if console.json:
        console.value([memory_json(fact) for fact in facts])
        return FINE
    for fact in facts:
        when = fact.happened_at.date().isoformat()
        until = f" until {fact.valid_until.date().isoformat()}" if fact.valid_until else ""
        state = "" if fact.status == "active" else f"({fact.status}) "
        console.line(f"{fact.id}  {when}{until}  {state}{excerpt(fact.content, 100)}")
    return FINE


# --- entities ------------------------------------------------------------------------------------------------------

_TAKES = {"list": 0, "show": 1, "merge": 2, "split": 2}


def arguments_entity(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("action", choices=sorted(_TAKES), help="list; show NAME; merge KEEP OTHER; split NAME ALIAS")
    parser.add_argument("names", nargs="*", metavar="NAME", help="a name, an alias or an id")
    parser.add_argument("--type", help="person, project, organization, location, email, url, date, tag or other")
    parser.add_argument("--limit", type=int, default=50, metavar="N")
    parser.add_argument("--why", default="", help="the reason, for the ledger")


def run_entity(args: argparse.Namespace, console: Console) -> int:
    if len(args.names) != _TAKES[args.action]:
        raise InvalidField("names", f"`entity {args.action}` takes {_TAKES[args.action]} of them", hint="See --help.")
    with open_from(args) as memory:
        run = {"list": _list, "show": _show, "merge": _merge, "split": _split}[args.action]
        return run(memory, args, console)


def _list(memory: Recollect, args: argparse.Namespace, console: Console) -> int:
    entities = memory.sessions.entities(type=args.type, limit=max(0, args.limit))
    if console.json:
        console.value([entity_json(one) for one in entities])
        return FINE
    for one in entities:
        console.line(f"{one.mentions:>6}  {one.type:<13} {one.name}{_also(one.aliases)}")
    return FINE


def _show(memory: Recollect, args: argparse.Namespace, console: Console) -> int:
    known = memory.sessions.entity(args.names[0], type=args.type, limit=max(0, args.limit))
    if console.json:
        value = {**entity_json(known.entity), "merged": [entity_json(one) for one in known.merged]}
        console.value({**value, "memories": [memory_json(one) for one in known.memories]})
        return FINE
    _headline(known.entity, console)
    for memory_ in known.memories:
        when = memory_.happened_at.date().isoformat()
        console.line(f"  {when}  [{memory_.kind}] {excerpt(memory_.content, 100)}")
    return FINE


def _merge(memory: Recollect, args: argparse.Namespace, console: Console) -> int:
    return _told(memory.sessions.merge_entities(*args.names, why=args.why), console)


def _split(memory: Recollect, args: argparse.Namespace, console: Console) -> int:
    return _told(memory.sessions.split_entity(*args.names, why=args.why), console)


def _told(entity: Entity, console: Console) -> int:
    if console.json:
        console.value(entity_json(entity))
    else:
        _headline(entity, console)
    return FINE


def _headline(entity: Entity, console: Console) -> None:
    console.line(f"{entity.name} ({entity.type}, {entity.mentions} mentions, {entity.id}){_also(entity.aliases)}")
    if entity.summary:
        console.line(f"  {entity.summary}")


def entity_json(entity: Entity) -> dict[str, Any]:
    return {
        "id": entity.id,
        "name": entity.name,
        "type": str(entity.type),
        "aliases": list(entity.aliases),
        "summary": entity.summary,
        "mentions": entity.mentions,
    }


def _counts(counts: dict[str, int]) -> str:
    return ", ".join(f"{count:,} {name}" for name, count in counts.items()) or "none"


def _also(aliases: Sequence[str]) -> str:
    return f"  (also {', '.join(aliases)})" if aliases else ""
