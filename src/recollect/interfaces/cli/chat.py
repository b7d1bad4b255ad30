"""Conversations: chat on the terminal or with one message, the providers there are, facts and entities."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from recollect.core.errors import EmptyContent, InvalidField, RecollectError, StoreError
from recollect.core.query import ANY_USER, Filter
from recollect.core.scope import SHOWN, Status
from recollect.core.text import excerpt, printable
from recollect.interfaces.cli.console import FINE, MARGIN, Console, exit_code, given_text, open_from
from recollect.interfaces.payloads.memories import memory_json
from recollect.interfaces.payloads.people import known_entity_json, turn_json

if TYPE_CHECKING:
    from recollect.agent.chat import Chat
    from recollect.app import Recollect
    from recollect.core.conversations import Turn
    from recollect.core.entities import Entity

_PROMPT = "> "
_INTERRUPTED = 130
_LEAVE = frozenset({"/quit", "/exit", "/bye"})


def arguments_chat(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--memory", metavar="NAME", help="what to remember with; `recollect providers` lists them")
    parser.add_argument("--model", metavar="MODEL", help="openai:MODEL, ollama:MODEL or URL#MODEL; else the configured")
    parser.add_argument("--session", metavar="NAME", help="go on with this session, or begin one of this name")
    parser.add_argument("--resume", action="store_true", help="go on with the session that was spoken in last")
    parser.add_argument("--once", metavar="MESSAGE", help="say this, print the answer and leave; - reads stdin")
    parser.add_argument("--no-tools", action="store_true", help="let the model call no tools")
    parser.add_argument("--no-stream", action="store_true", help="show an answer when it is complete")
    parser.add_argument(
        "--semantic-recall", choices=["on", "off"], help="of the provider `semantic`; off loads no model"
    )


def run_chat(args: argparse.Namespace, console: Console) -> int:
    if args.read_only:
        raise InvalidField("read-only", "a chat writes down what is said", hint="Leave --read-only out.")
    with open_from(args, create=True) as memory:
        chats = memory.chats
        session = chats.last_session() if args.resume and args.session is None else args.session
        options = {"semantic_recall": args.semantic_recall} if args.semantic_recall else {}
        chat = chats.open(
            memory=args.memory, session=session, model=args.model, tools=not args.no_tools, options=options
        )
        so_far = chat.wake()
        try:
            if args.once is not None:
                return _say_once(chat, args, console)
            return _converse(chat, args, console, so_far)
        finally:
            chat.sleep()
            for note in chat.notes:
                console.note(f"recollect: {note}")


def _say_once(chat: Chat, args: argparse.Namespace, console: Console) -> int:
    message = given_text([args.once], "message")
    try:
        turn = _say(chat, message, args, console)
    except RecollectError:
        _note_kept(chat, console)
        raise
    if console.json:
        console.value(turn_json(turn))
    return FINE


def _converse(chat: Chat, args: argparse.Namespace, console: Console, so_far: int) -> int:
    """Message by message until the end of input. A turn that fails is told and the conversation goes on."""
    watched = sys.stdin.isatty() and not console.json
    if watched:
        told = f", {so_far} turns so far" if so_far else ""
        console.note(f"session {chat.session}{told}; Ctrl-D or /quit ends it, Ctrl-C stops an answer")
    worst = FINE
    for message in _read_messages(watched):
        try:
            turn = _say(chat, message, args, console)
            if console.json:
                console.value(turn_json(turn))
        except EmptyContent:  # a bare line feed says nothing
            continue
        except StoreError:
            raise
        except RecollectError as error:
            console.error(error)
            _note_kept(chat, console)
            worst = exit_code(error)
        except KeyboardInterrupt:
            sys.stderr.write("\n")
            console.note("stopped; the turn is kept")
            if not watched:
                return _INTERRUPTED
    if watched:
        console.note(f"`recollect chat --session {chat.session}` goes on with it")
    return FINE if watched else worst


def _note_kept(chat: Chat, console: Console) -> None:
    console.note(f"  (what was said is kept: `recollect logs --session {chat.session}`)")


def _read_messages(watched: bool) -> Iterator[str]:
    """What is typed, or each line of a pipe."""
    while True:
        try:
            line = input(_PROMPT) if watched else sys.stdin.readline()
        except (EOFError, KeyboardInterrupt):
            sys.stderr.write("\n")
            return
        if (not watched and not line) or line.strip() in _LEAVE:
            return
        yield line


def _say(chat: Chat, message: str, args: argparse.Namespace, console: Console) -> Turn:
    """One turn, shown as it comes when somebody watches."""
    if console.json:
        return chat.say(message)
    if args.no_stream:
        turn = chat.say(message)
        console.lines(turn.output)
    else:
        turn = chat.say(message, heard=_print_piece)
        sys.stdout.write("\n")
        sys.stdout.flush()
    if turn.note:
        console.note(f"  ({turn.note})")
    return turn


def _print_piece(piece: str) -> None:
    safe = printable(piece)
    encoding = (getattr(sys.stdout, "encoding", "") or "ascii").lower()
    sys.stdout.write(safe if encoding.replace("-", "") == "utf8" else safe.encode("ascii", "replace").decode())
    sys.stdout.flush()


def arguments_providers(parser: argparse.ArgumentParser) -> None:
    pass


def run_providers(args: argparse.Namespace, console: Console) -> int:
    """Needs no store: what can be chosen does not depend on one."""
    from recollect.config import load_settings
    from recollect.registry import providers
    from recollect.wiring import locate

    file = locate(args.store)
    chosen = load_settings(None if file is None else file.parent).settings.memory
    offers = providers()
    if console.json:
        told = [{"name": one.name, "does": one.does, "origin": one.origin} for one in offers]
        console.value({"providers": told, "default": chosen})
        return FINE
    for offer in offers:
        mark = "*" if offer.name == chosen else " "
        origin = "" if offer.origin == "recollect" else f"  (from {offer.origin})"
        console.line(f"{mark} {offer.name:<12} {offer.does}{origin}")
    return FINE


# --- facts ---------------------------------------------------------------------------------------------------------


def arguments_facts(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--session", help="only those drawn from this session")
    parser.add_argument("--all", action="store_true", help="also superseded, rejected and expired ones")
    parser.add_argument("--limit", type=int, default=50, metavar="N")


def run_facts(args: argparse.Namespace, console: Console) -> int:
    filter = Filter(statuses=Status if args.all else SHOWN, user=ANY_USER)
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

_ENTITY_NAMES = {"list": 0, "show": 1, "merge": 2, "split": 2}


def arguments_entity(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "action", choices=sorted(_ENTITY_NAMES), help="list; show NAME; merge KEEP OTHER; split NAME ALIAS"
    )
    parser.add_argument("names", nargs="*", metavar="NAME", help="a name, an alias or an id")
    parser.add_argument("--type", help="person, project, organization, location, email, url, date, tag or other")
    parser.add_argument("--limit", type=int, default=50, metavar="N")
    parser.add_argument("--why", default="", help="the reason, for the log")


def run_entity(args: argparse.Namespace, console: Console) -> int:
    if len(args.names) != _ENTITY_NAMES[args.action]:
        raise InvalidField(
            "names", f"`entity {args.action}` takes {_ENTITY_NAMES[args.action]} of them", hint="See --help."
        )
    with open_from(args) as memory:
        run = {"list": _list_entities, "show": _show_entity, "merge": _merge_entities, "split": _split_entity}[
            args.action
        ]
        return run(memory, args, console)


def _list_entities(memory: Recollect, args: argparse.Namespace, console: Console) -> int:
    entities = memory.sessions.entities(type=args.type, limit=max(0, args.limit))
    if console.json:
        console.value([known_entity_json(entity) for entity in entities])
        return FINE
    for entity in entities:
        console.line(f"{entity.mentions:>6}  {entity.type:<13} {entity.name}{_also(entity.aliases)}")
    return FINE


def _show_entity(memory: Recollect, args: argparse.Namespace, console: Console) -> int:
    known = memory.sessions.entity(args.names[0], type=args.type, limit=max(0, args.limit))
    if console.json:
        value = {**known_entity_json(known.entity), "merged": [known_entity_json(one) for one in known.merged]}
        console.value({**value, "memories": [memory_json(memory) for memory in known.memories]})
        return FINE
    _show_headline(known.entity, console)
    for memory_ in known.memories:
        when = memory_.happened_at.date().isoformat()
        console.line(f"  {when}  [{memory_.kind}] {excerpt(memory_.content, 100)}")
    return FINE


def _merge_entities(memory: Recollect, args: argparse.Namespace, console: Console) -> int:
    return _show_changed(memory.sessions.merge_entities(*args.names, why=args.why), console)


def _split_entity(memory: Recollect, args: argparse.Namespace, console: Console) -> int:
    return _show_changed(memory.sessions.split_entity(*args.names, why=args.why), console)


def _show_changed(entity: Entity, console: Console) -> int:
    if console.json:
        console.value(known_entity_json(entity))
    else:
        _show_headline(entity, console)
    return FINE


def _show_headline(entity: Entity, console: Console) -> None:
    console.line(f"{entity.name} ({entity.type}, {entity.mentions} mentions, {entity.id}){_also(entity.aliases)}")
    if entity.summary:
        console.lines(f"  {entity.summary}", margin=MARGIN)


def _also(aliases: Sequence[str]) -> str:
    return f"  (also {', '.join(aliases)})" if aliases else ""
