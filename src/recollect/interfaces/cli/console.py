"""What the commands share: opening the store, printing for people or programs, reading stdin, exit codes, progress."""

from __future__ import annotations

import argparse
import json
import os
import sys
from collections.abc import Iterable
from datetime import datetime
from typing import TYPE_CHECKING, Any

from recollect.core.doors import CLI, CLI_TERMINAL
from recollect.core.errors import (
    InternalError,
    InvalidField,
    InvalidInput,
    InvalidText,
    NotFound,
    PersonOnly,
    RecollectError,
    Refused,
    StoreError,
)
from recollect.core.given_json import parse_given_json
from recollect.core.ids import in_utc
from recollect.core.scope import Scope, Source, Status, Visibility, choose, share
from recollect.core.text import indented, one_line
from recollect.files.known_stores import note_store

if TYPE_CHECKING:
    from recollect.app import Recollect
    from recollect.core.query import Filter

FINE, FOUND = 0, 1
MARGIN = "  | "  # before the further lines of a stored text: they cannot pass for what Recollect says of it
_STDIN_LIMIT = 64 * 2**20  # bytes read from a pipe


def exit_code(error: RecollectError) -> int:
    match error:
        case NotFound():
            return 3
        case Refused():
            return 4
        case StoreError():
            return 5
        case InternalError():
            return 70
        case InvalidInput():
            return 2
        case _:
            return 2


class Console:
    """Prints either for a person or, with --json, one JSON value for a program. Progress goes to stderr."""

    def __init__(self, *, json: bool) -> None:
        self.json = json

    def value(self, value: Any) -> None:
        json.dump(value, sys.stdout, ensure_ascii=not _is_utf8(sys.stdout), indent=2 if sys.stdout.isatty() else None)
        sys.stdout.write("\n")

    def line(self, text: str = "") -> None:
        """One line for a person, whatever is in it: stored text can neither move the cursor nor pass for a line."""
        self._write(one_line(text))

    def lines(self, text: str, *, margin: str = "") -> None:
        """A text of several lines for a person; the margin shows which lines are part of it."""
        self._write(indented(text, margin))

    def _write(self, safe: str) -> None:
        sys.stdout.write(safe + "\n" if _is_utf8(sys.stdout) else safe.encode("ascii", "replace").decode() + "\n")

    def note(self, text: str) -> None:
        """One line beside the answer."""
        sys.stderr.write(f"{one_line(text)}\n")

    def error(self, error: RecollectError) -> None:
        if self.json:
            from recollect.interfaces.payloads.base import error_json

            self.value(error_json(error))
        self.note(f"recollect: {error}")
        if error.hint:
            self.note(f"  → {error.hint}")

    def progress(self, label: str, done: int, total: int | None = None) -> None:
        """A bar, or a counter where nobody knows how much is to come, on stderr; only when somebody watches."""
        if sys.stderr.isatty():
            of = f"/{total:,}" if total else ""
            bar = f"{_draw_bar(done / total)} " if total else ""
            sys.stderr.write(f"\r{label}: {bar}{done:,}{of} \x1b[K")
            sys.stderr.flush()

    def progress_done(self) -> None:
        if sys.stderr.isatty():
            sys.stderr.write("\r\x1b[K")

    def silence(self) -> None:
        """The reader of our output has gone; nothing more can be said."""
        null = os.open(os.devnull, os.O_WRONLY)
        os.dup2(null, sys.stdout.fileno())
        os.close(null)


_BAR = 24  # signs


def _draw_bar(share: float) -> str:
    full = min(_BAR, int(share * _BAR))
    signs = ("█", "░") if _is_utf8(sys.stderr) else ("#", ".")
    return signs[0] * full + signs[1] * (_BAR - full)


def open_from(args: argparse.Namespace, *, create: bool = False) -> Recollect:
    """The memory the command works on. Only commands that take something in may make a new one."""
    from recollect.wiring import open as open_memory  # the list of commands and a misspelt one need no memory

    door = CLI_TERMINAL if speaks_as_person(args) else CLI
    memory = open_memory(
        args.store, create=create, read_only=args.read_only, actor=args.actor, door=door.name, personal=True
    )
    if memory.path is not None and not args.read_only:
        note_store(str(memory.path))
    for notice in memory.notices:
        sys.stderr.write(f"recollect: {one_line(notice)}\n")
    return memory


# Hosts say by these that a command is run by their agent, even where they give it a terminal.
_AGENT_MARKS = ("CLAUDECODE", "CURSOR_AGENT", "CODEX_SANDBOX", "GEMINI_CLI", "OPENCODE")


def speaks_as_person(args: argparse.Namespace) -> bool:
    """Does a person run the command? They say so, or sit at a terminal that no agent's host runs."""
    if args.as_person:
        return True
    return sys.stdin.isatty() and sys.stdout.isatty() and not any(os.environ.get(mark) for mark in _AGENT_MARKS)


def require_person(args: argparse.Namespace, what: str) -> None:
    """Refuse what only a person can do, before anything is opened."""
    if not speaks_as_person(args):
        raise PersonOnly(what)


def note_agent(args: argparse.Namespace, console: Console) -> None:
    """Say that what was taken in counts as an agent's word, and how to say that it is a person's."""
    if not speaks_as_person(args):
        console.note("  ! taken as an agent's word, because no terminal is attached; `--as-person` says it is yours")


def require_files(names: Iterable[str]) -> None:
    """Refuse what is not there before a store is opened, so that a slip of the hand makes none."""
    for name in names:
        if not os.path.exists(name):
            raise InvalidField(name, "there is no such file or directory")


def given_text(words: list[str], what: str = "text") -> str:
    """The words of the command line, or stdin when there are none or a single dash."""
    if words and words != ["-"]:
        return " ".join(words)
    if not words and sys.stdin.isatty():
        raise InvalidField(what, "there is none", hint="Pass it as an argument or on stdin.")
    data = sys.stdin.buffer.read(_STDIN_LIMIT + 1)
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError as error:
        raise InvalidText("stdin", f"byte {error.start} is not UTF-8") from None


def read_json(name: str) -> Any:
    """The JSON value a file holds; `-` is stdin."""
    if name == "-":
        text = given_text(["-"], "JSON")
    else:
        try:
            with open(name, encoding="utf-8") as file:
                text = file.read(_STDIN_LIMIT + 1)
        except (OSError, UnicodeDecodeError) as error:
            raise InvalidField(name, f"cannot be read: {error}") from None
    if len(text) > _STDIN_LIMIT:
        raise InvalidField(name, f"more than {_STDIN_LIMIT >> 20} MB")
    return parse_given_json(text, name)


# --- filters, shared by recall, brief and list ---------------------------------------------------------------------


def filter_arguments(parser: argparse.ArgumentParser) -> None:
    many: dict[str, Any] = {"action": "append", "default": [], "metavar": "NAME"}
    parser.add_argument("--kind", **many, help="only this kind (repeatable, like the others)")
    parser.add_argument("--source", **many, help="only from this source")
    parser.add_argument("--scope", **many, help="only of this scope")
    parser.add_argument("--visibility", **many, help="only of this visibility")
    parser.add_argument("--status", **many, help="of this status; `any` for all (default: active, disputed)")
    parser.add_argument("--file", **many, help="only about this file")
    parser.add_argument("--module", **many, help="only about this module")
    parser.add_argument("--tag", **many, help="only with this tag")
    parser.add_argument("--session", **many, help="only of this session")
    parser.add_argument("--user", metavar="ID", help="as this user of an assistant sees it")
    parser.add_argument("--document", **many, help="only passages of this document")
    parser.add_argument("--label", **many, help="only passages of documents with this label")
    parser.add_argument("--type", **many, help="only passages of documents of this type")
    parser.add_argument("--since", metavar="DATE", help="from this day on")
    parser.add_argument("--until", metavar="DATE", help="before this day")
    parser.add_argument("--min-confidence", type=float, default=0.0, metavar="0-1", help="at least this sure")
    parser.add_argument("--min-trust", type=float, default=0.0, metavar="X", help="from sources trusted at least this")
    parser.add_argument(
        "--needs-review", action="store_true", default=None, help="only what needs review, candidates too"
    )
    parser.add_argument("--pinned", action="store_true", default=None, help="only pinned ones")
    parser.add_argument("--as-of", metavar="DATE", help="what held on that day, superseded since or not")


def is_narrowed(args: argparse.Namespace) -> bool:
    """Was any filter given that lets less through?"""
    lists = (args.kind, args.source, args.scope, args.visibility, args.status, args.file, args.module, args.tag,
             args.session, args.document, args.label, args.type)  # fmt: skip
    others = (args.since, args.until, args.needs_review, args.pinned, args.as_of, args.user)
    return any(lists) or any(one is not None for one in others) or args.min_confidence > 0 or args.min_trust > 0


def is_agreed(question: str, wanted: str = "yes") -> bool:
    """Ask the person at the terminal. Where there is none, nobody can be asked: an error that says how to go on."""
    if not sys.stdin.isatty():
        raise InvalidField("yes", "nobody can be asked here", hint="Look with --dry-run, then add --yes.")
    try:
        return input(f"{question} Type `{wanted}`: ").strip().casefold() == wanted
    except EOFError:
        return False


def filter_from(args: argparse.Namespace, *, everyone: str | None = None) -> Filter:
    from recollect.core.query import Filter, read_user

    statuses = (
        frozenset(Status) if "any" in args.status else frozenset(choose(Status, s, "status") for s in args.status)
    ) or None
    return Filter(
        kinds=frozenset(args.kind),
        sources=frozenset(choose(Source, name, "source") for name in args.source),
        scopes=frozenset(choose(Scope, name, "scope") for name in args.scope),
        visibilities=frozenset(choose(Visibility, name, "visibility") for name in args.visibility),
        statuses=statuses,
        files=frozenset(args.file),
        modules=frozenset(args.module),
        tags=frozenset(args.tag),
        sessions=frozenset(args.session),
        documents=frozenset(args.document),
        labels=frozenset(args.label),
        types=frozenset(args.type),
        since=parse_moment(args.since, "since"),
        until=parse_moment(args.until, "until"),
        min_confidence=share(args.min_confidence, "min-confidence"),
        min_trust=args.min_trust,
        needs_review=args.needs_review,
        pinned=args.pinned,
        as_of=parse_moment(args.as_of, "as-of"),
        user=everyone if args.user is None else read_user(args.user),
    )


def parse_moment(text: str | None, field: str) -> datetime | None:
    """A date or time in ISO 8601, taken as UTC when it says no zone."""
    if text is None:
        return None
    try:
        at = datetime.fromisoformat(text)
    except ValueError:
        raise InvalidField(field, f"{text!r} is not a date", hint="Write 2026-03-01 or 2026-03-01T12:00.") from None
    return in_utc(at, field)


def _is_utf8(stream: Any) -> bool:
    return (getattr(stream, "encoding", "") or "").lower().replace("-", "") == "utf8"
