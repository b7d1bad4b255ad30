"""The command line. Only the module of the command that was asked for is loaded, so a one-shot call stays fast."""

from __future__ import annotations

import argparse
import gc
import os
import sys
from collections.abc import Sequence
from importlib import import_module
from typing import Any, NoReturn

from recollect.core.errors import InternalError, RecollectError, StoreError, UnusableFile
from recollect.interfaces.cli.console import FINE, Console, exit_code
from recollect.interfaces.start import INTERRUPTED
from recollect.version import __version__

# command → (module, one line of help); the module has `arguments_NAME(parser)` and `run_NAME(args, console)`.
COMMANDS = {
    "init": ("write", "make a memory for this project"),
    "remember": ("write", "remember a statement"),
    "recall": ("read", "find the right few memories for a question"),
    "brief": ("read", "a packed, cited briefing for an agent"),
    "list": ("read", "memories by filter"),
    "trend": ("status", "how often something was seen per day, week or month"),
    "projects": ("read", "the projects that are remembered on this machine"),
    "show": ("read", "one memory, whole"),
    "why": ("read", "how we came to believe something"),
    "history": ("read", "what was changed, by whom and why"),
    "edit": ("write", "change a memory in place"),
    "correct": ("write", "replace a statement by a better one"),
    "confirm": ("write", "say that a memory is right; what it contradicts is closed"),
    "reject": ("write", "it is wrong and must not come back"),
    "dispute": ("write", "mark a memory as doubted"),
    "pin": ("write", "keep a memory from fading"),
    "forget": ("write", "remove a memory for good"),
    "erase": ("erase", "erase a subject, session, user, project or everything, from every file"),
    "undo": ("write", "take back the last change"),
    "docs": ("docs", "documents as memory: index, search, related, list, gc, check"),
    "backup": ("maintain", "copy the store, verified"),
    "restore": ("maintain", "put a backup back, setting the present aside"),
    "check": ("maintain", "see whether every row is sound and every index matches"),
    "repair": ("maintain", "rebuild indexes; salvage a damaged file"),
    "doctor": ("status", "how the store and this machine are doing"),
    "scan": ("maintain", "look for secrets in what is stored, or in files"),
    "tend": ("maintain", "do what is due: embed, consolidate, enrich, reflect, synthesise, prune"),
    "code": ("code", "the project's source code: what depends on what, and search in it"),
    "status": ("status", "how things stand: sessions, turns, jobs, what language models cost"),
    "logs": ("status", "turns of chats, what was done by itself, and what went wrong"),
    "chat": ("chat", "talk with a language model that remembers"),
    "providers": ("chat", "what a chat can remember with"),
    "observe": ("observe", "learn from what agents did: transcripts, or the spool that hooks leave"),
    "foresee": ("observe", "what a task will touch, and what tends to fail here"),
    "review": ("review", "decide what needs review: candidates, contradictions, disputed and stale memories"),
    "told": ("trust", "what agents were told unasked, when and where; reject what was wrong"),
    "trust": ("trust", "how much agents are told unasked: show, or choose a level"),
    "facts": ("chat", "facts drawn from conversations"),
    "entity": ("chat", "who and what is spoken of: list, show, merge, split"),
    "export": ("portable", "write memories to a file: lines of JSON, archive, Markdown, CLAUDE.md"),
    "import": ("portable", "take in an export, another program's memories, chats, or rules files"),
    "migrate": ("portable", "move a store to another file, machine or engine"),
    "models": ("install", "offline model packs: list, install, path"),
    "panel": ("server", "see and steer what agents know, in a browser"),
    "serve": ("server", "the local server: HTTP API, events, MCP and the panel"),
    "sync": ("sync", "keep this project in step with the team's server"),
    "token": ("server", "tokens for programs that use the server: create, list, revoke"),
    "team": ("team", "a shared store: who is in, invitations, roles, tokens, talk about disputed memories"),
    "mcp": ("mcp", "serve the memory to agents over the Model Context Protocol"),
    "install": ("install", "put it into Claude Code, Codex, Gemini, Cursor, opencode, VS Code or Windsurf"),
    "uninstall": ("install", "take it out again: every file as it was"),
    "hook": ("mcp", "answer one event of a host's hook, given on stdin"),
    "demo": ("demo", "see it work on a store of its own, which is removed at the end"),
    "completion": ("install", "shell completion for bash, zsh or fish"),
}

_EXITS = (
    "exit codes: 0 fine · 1 something was found · 2 bad input · 3 not found · 4 refused · 5 trouble with the store or "
    "a file · 70 a mistake in Recollect · 130 interrupted"
)

# Loading modules makes objects that all stay: a collector that looks at them every 700 costs a one-shot call 5 %.
_GC_THRESHOLD = 20_000


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command. User errors are told in two lines, never as a traceback."""
    gc.set_threshold(max(gc.get_threshold()[0], _GC_THRESHOLD))
    words = list(sys.argv[1:] if argv is None else argv)
    console = Console(json="--json" in words)
    try:
        try:
            return _run(words, console)
        finally:  # also when help was asked for, which ends the program
            sys.stdout.flush()
    except BrokenPipeError:  # whoever read our output has gone: `recollect list | head -1`
        console.silence()
        return FINE
    except KeyboardInterrupt:
        return INTERRUPTED
    except OSError as error:  # nothing can be printed: a full disk behind stdout
        console.silence()
        console.note(f"recollect: the output cannot be written: {error.strerror}.")
        return exit_code(StoreError(""))


def _run(words: Sequence[str], console: Console) -> int:
    try:
        args = parse_arguments(words)
        module = import_module(f"recollect.interfaces.cli.{COMMANDS[args.command][0]}")
        return int(getattr(module, f"run_{args.command}")(args, console))
    except RecollectError as error:
        console.error(error)
        return exit_code(error)
    except BrokenPipeError:
        raise
    except OSError as error:
        unusable = UnusableFile(error)
        console.error(unusable)
        return exit_code(unusable)
    except Exception as error:
        if os.environ.get("RECOLLECT_TRACEBACK"):
            raise
        unforeseen = InternalError(error)
        console.error(unforeseen)
        return exit_code(unforeseen)


def parse_arguments(words: Sequence[str]) -> argparse.Namespace:
    command = next((word for word in words if word in COMMANDS), None)
    if command is None or words.index(command) > _first_plain(words):
        return full_parser(outline=command is None).parse_args(words)
    top = _Parser(prog="recollect", add_help=False)
    _common(top)
    subparsers = top.add_subparsers(dest="command", prog="recollect", parser_class=_Parser)
    parser = _add(subparsers, str(command))
    args, unknown = top.parse_known_args(words)
    if unknown:
        parser.error(f"unrecognized arguments: {' '.join(unknown)}")
    return args


def full_parser(*, outline: bool = False) -> argparse.ArgumentParser:
    """The parser with every command, for completion and the reference page. An outline has no command's own arguments,
    which is enough for the list of commands and loads none of their modules."""
    top = _Parser(prog="recollect", description="Long-term memory for AI agents, in one file.", epilog=_EXITS)
    top.add_argument("--version", action="version", version=f"recollect {__version__}")
    _common(top)
    subparsers = top.add_subparsers(dest="command", metavar="COMMAND", required=True, parser_class=_Parser)
    for name, (_, line) in COMMANDS.items():
        if outline:
            subparsers.add_parser(name, help=line)
        else:
            _add(subparsers, name)
    return top


class _Formatter(argparse.HelpFormatter):
    """Help of a fixed width: asking the terminal for its own loads modules that no command needs."""

    def __init__(self, prog: str) -> None:
        super().__init__(prog, width=98)


class _Parser(argparse.ArgumentParser):
    def __init__(self, **options: Any) -> None:
        super().__init__(**{"formatter_class": _Formatter, **options})

    def error(self, message: str) -> NoReturn:
        self.exit(2, f"recollect: {message}\n  → `{self.prog} --help` shows what it takes.\n")


def _add(subparsers: argparse._SubParsersAction[_Parser], name: str) -> _Parser:
    module_name, line = COMMANDS[name]
    module = import_module(f"recollect.interfaces.cli.{module_name}")
    parser = subparsers.add_parser(name, help=line, description=line[0].upper() + line[1:] + ".")
    _common(parser, quiet=True)
    getattr(module, f"arguments_{name}")(parser)
    for action in parser._actions:  # commands of a command take the same options, wherever they stand
        if isinstance(action, argparse._SubParsersAction):
            for inner in action.choices.values():
                _common(inner, quiet=True)
    return parser


def _common(parser: argparse.ArgumentParser, *, quiet: bool = False) -> None:
    """Options that may stand before or after the command."""
    absent = argparse.SUPPRESS
    parser.add_argument("--json", action="store_true", default=absent if quiet else False, help="plain JSON on stdout")
    parser.add_argument(
        "--store", metavar="PATH", default=absent if quiet else None, help="database file, project or postgresql://…"
    )
    parser.add_argument(
        "--personal",
        action="store_const",
        const=":personal:",
        dest="store",
        default=absent,
        help="your own memories, not the project's",
    )
    parser.add_argument(
        "--read-only", action="store_true", default=absent if quiet else False, help="change nothing, not even counters"
    )
    parser.add_argument(
        "--as-person",
        action="store_true",
        default=absent if quiet else False,
        help="a person says this; without it, what comes in without a terminal is an agent's word",
    )
    parser.add_argument("--actor", metavar="NAME", default=absent if quiet else None, help="who the log names")


def _first_plain(words: Sequence[str]) -> int:
    """Where the first word stands that is neither an option nor an option's value."""
    skip = False
    for place, word in enumerate(words):
        if skip:
            skip = False
        elif word in ("--store", "--actor"):
            skip = True
        elif not word.startswith("-"):
            return place
    return len(words)
