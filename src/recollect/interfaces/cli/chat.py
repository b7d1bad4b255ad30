"""`recollect chat` and `recollect providers`: a conversation on the terminal, or one message for a program."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator
from typing import TYPE_CHECKING

from recollect.core.errors import EmptyContent, InvalidField, RecollectError, StoreError
from recollect.core.text import printable
from recollect.interfaces.cli.console import FINE, Console, exit_code, given_text, open_from
from recollect.interfaces.reports import turn_json

if TYPE_CHECKING:
    from recollect.agent.chat import Chat
    from recollect.core.turns import Turn

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
                return _once(chat, args, console)
            return _talk(chat, args, console, so_far)
        finally:
            chat.sleep()
            for note in chat.notes:
                console.note(f"recollect: {note}")


def _once(chat: Chat, args: argparse.Namespace, console: Console) -> int:
    message = given_text([args.once], "message")
    try:
        turn = _said(chat, message, args, console)
    except RecollectError:
        _kept(chat, console)
        raise
    if console.json:
        console.value(turn_json(turn))
    return FINE


def _talk(chat: Chat, args: argparse.Namespace, console: Console, so_far: int) -> int:
    """Message by message until the end of input. A turn that fails is told and the conversation goes on."""
    watched = sys.stdin.isatty() and not console.json
    if watched:
        told = f", {so_far} turns so far" if so_far else ""
        console.note(f"session {chat.session}{told}; Ctrl-D or /quit ends it, Ctrl-C stops an answer")
    worst = FINE
    for message in _messages(watched):
        try:
            turn = _said(chat, message, args, console)
            if console.json:
                console.value(turn_json(turn))
        except EmptyContent:  # a bare line feed says nothing
            continue
        except StoreError:
            raise
        except RecollectError as error:
            console.error(error)
            _kept(chat, console)
            worst = exit_code(error)
        except KeyboardInterrupt:
            console.note("\nstopped; the turn is kept")
            if not watched:
                return _INTERRUPTED
    if watched:
        console.note(f"`recollect chat --session {chat.session}` goes on with it")
    return FINE if watched else worst


def _kept(chat: Chat, console: Console) -> None:
    console.note(f"  (what was said is kept: `recollect logs --session {chat.session}`)")


def _messages(watched: bool) -> Iterator[str]:
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


def _said(chat: Chat, message: str, args: argparse.Namespace, console: Console) -> Turn:
    """One turn, shown as it comes when somebody watches."""
    if console.json:
        return chat.say(message)
    if args.no_stream:
        turn = chat.say(message)
        console.line(turn.output)
    else:
        turn = chat.say(message, heard=_show)
        sys.stdout.write("\n")
        sys.stdout.flush()
    if turn.note:
        console.note(f"  ({turn.note})")
    return turn


def _show(piece: str) -> None:
    safe = printable(piece)
    encoding = (getattr(sys.stdout, "encoding", "") or "ascii").lower()
    sys.stdout.write(safe if encoding.replace("-", "") == "utf8" else safe.encode("ascii", "replace").decode())
    sys.stdout.flush()


def arguments_providers(parser: argparse.ArgumentParser) -> None:
    pass


def run_providers(args: argparse.Namespace, console: Console) -> int:
    """Needs no store: what can be chosen does not depend on one."""
    from recollect.config import Settings, load_settings
    from recollect.registry import providers
    from recollect.wiring import locate

    file = locate(args.store)
    chosen = (load_settings(file.parent) if file is not None else Settings()).memory
    offers = providers()
    if console.json:
        told = [{"name": one.name, "does": one.does, "origin": one.origin} for one in offers]
        console.value({"providers": told, "default": chosen})
        return FINE
    for one in offers:
        mark = "*" if one.name == chosen else " "
        origin = "" if one.origin == "recollect" else f"  (from {one.origin})"
        console.line(f"{mark} {one.name:<12} {one.does}{origin}")
    return FINE
