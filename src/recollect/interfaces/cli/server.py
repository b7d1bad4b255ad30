"""The local server: `serve` in this terminal, `panel` in the background with a browser, `token` for programs."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from datetime import UTC, datetime
from importlib.util import find_spec
from typing import TYPE_CHECKING

from recollect.core.errors import ExtraMissing
from recollect.interfaces.cli.console import FINE, Console, require_person, speaks_as_person
from recollect.interfaces.http import READ, SCOPES, WRITE

if TYPE_CHECKING:
    from recollect.interfaces.http.access import Token
    from recollect.interfaces.http.background import ServerNote


def _require_server() -> None:
    for package in ("starlette", "uvicorn", "mcp"):
        if find_spec(package) is None:
            raise ExtraMissing("The server", package=package, extra="server")


# --- serve -----------------------------------------------------------------------------------------------------------


def arguments_serve(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--port", type=int, metavar="N", help="listen here; 0 for any free port (default: the last one)"
    )
    parser.add_argument("--open", action="store_true", help="open the panel in a browser")
    parser.add_argument("--host", default="127.0.0.1", metavar="ADDRESS", help="another address; needs TLS")
    parser.add_argument("--name", action="append", default=[], metavar="HOST", help="a name the server goes by")
    parser.add_argument("--tls-cert", metavar="FILE", help="certificate, for an address that others can reach")
    parser.add_argument("--tls-key", metavar="FILE", help="its key")
    parser.add_argument("--no-tend", action="store_true", help="leave the jobs that are due to `recollect tend`")


def run_serve(args: argparse.Namespace, console: Console) -> int:
    _require_server()
    from recollect.interfaces.http.server import ServerOptions, run_server

    def ready(url: str) -> None:
        opened = _with_code(url, args) if args.open or speaks_as_person(args) else url
        if console.json:
            console.value({"url": url, "mcp": f"{url}mcp", "panel": opened})
        else:
            console.line(f"  api    {url}v1")
            console.line(f"  mcp    {url}mcp")
            console.line(f"  panel  {opened}")
            console.line("Ctrl-C stops it. `recollect token create NAME` makes a token for a program.")
        sys.stdout.flush()
        if args.open:
            _browse(opened)

    if args.open:
        require_person(args, "open the panel")
    run_server(
        ServerOptions(
            store=args.store,
            host=args.host,
            port=args.port,
            names=tuple(args.name),
            cert=args.tls_cert,
            key=args.tls_key,
            read_only=args.read_only,
            tend=not args.no_tend,
            actor=args.actor,
        ),
        ready=ready,
    )
    return FINE


def _with_code(url: str, args: argparse.Namespace) -> str:
    """The address that opens the panel once. The code is in the fragment, which no browser sends or logs."""
    from recollect.interfaces.http.access import AccessFile
    from recollect.interfaces.http.background import store_key

    return f"{url}#code={AccessFile().make_code(store_key(args.store))}"


def _browse(url: str) -> bool:
    import webbrowser

    try:
        return webbrowser.open(url)
    except webbrowser.Error:
        return False


# --- panel -----------------------------------------------------------------------------------------------------------


def arguments_panel(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--stop", action="store_true", help="stop the server in the background")
    parser.add_argument("--no-browser", action="store_true", help="only show the address")
    parser.add_argument("--port", type=int, metavar="N", help="for a server that is started now")


def run_panel(args: argparse.Namespace, console: Console) -> int:
    _require_server()
    from recollect.interfaces.http.background import ServerNote, start, stop, store_key

    key = store_key(args.store)
    note = ServerNote.read(key)
    if args.stop:
        stopped = note is not None and stop(note)
        if console.json:
            console.value({"stopped": stopped})
        else:
            console.line("Stopped." if stopped else "No server runs for this store.")
        return FINE
    require_person(args, "open the panel")
    is_new = note is None or not note.is_up
    if note is None or is_new:
        note = start(_words(args), key)
    return _show(note, args, console, is_new=is_new)


def _show(note: ServerNote, args: argparse.Namespace, console: Console, *, is_new: bool) -> int:
    opened = _with_code(note.url, args)
    shown = not args.no_browser and _browse(opened)
    if console.json:
        console.value({"url": note.url, "panel": opened, "pid": note.pid, "started": is_new})
        return FINE
    console.line(f"{'Started' if is_new else 'Already running'} at {note.url} (process {note.pid}).")
    if not shown:
        console.line(f"Open {opened}")
        console.line("The address works once, within five minutes.")
    console.line("`recollect panel --stop` stops it.")
    return FINE


def _words(args: argparse.Namespace) -> Sequence[str]:
    from recollect.wiring import name_store

    words = ["serve", "--store", name_store(args.store)]
    words += ["--port", str(args.port)] if args.port is not None else []
    words += ["--read-only"] if args.read_only else []
    return [*words, "--actor", args.actor] if args.actor else words


# --- token -----------------------------------------------------------------------------------------------------------


def arguments_token(parser: argparse.ArgumentParser) -> None:
    commands = parser.add_subparsers(dest="token_command", metavar="COMMAND", required=True)
    create = commands.add_parser("create", help="make a token for a program; it is shown once")
    create.add_argument("name", help="what the log names")
    create.add_argument("--scope", choices=SCOPES, default=WRITE, help=f"how much it may do (default: {WRITE})")
    create.add_argument("--for-person", action="store_true", help="what it does is your word; without it, an agent's")
    commands.add_parser("list", help="the tokens there are")
    revoke = commands.add_parser("revoke", help="end a token")
    revoke.add_argument("name")


def run_token(args: argparse.Namespace, console: Console) -> int:
    from recollect.interfaces.http.access import AccessFile

    access = AccessFile()
    match args.token_command:
        case "create":
            if args.for_person or args.scope != READ:
                require_person(args, "make a token that can change memories")
            token = access.make_token(args.name, scope=args.scope, is_persons=args.for_person)
            if console.json:
                console.value({"name": args.name, "scope": args.scope, "person": args.for_person, "token": token})
            else:
                console.line(token)
                console.note("  It is not shown again. Send it as `Authorization: Bearer TOKEN`.")
        case "revoke":
            access.revoke(args.name)
            if console.json:
                console.value({"revoked": args.name})
            else:
                console.line(f"{args.name} is revoked.")
        case _:
            _list_tokens(access.tokens(), console)
    return FINE


def _list_tokens(tokens: Sequence[Token], console: Console) -> None:
    shown = [
        {
            "name": token.name,
            "scope": token.scope,
            "person": token.is_persons,
            "made_at": datetime.fromtimestamp(token.made_at, UTC).isoformat(timespec="seconds"),
        }
        for token in tokens
    ]
    if console.json:
        console.value(shown)
        return
    for one in shown:
        whose = "a person's" if one["person"] else "an agent's"
        console.line(f"{one['name']} · {one['scope']} · {whose} · {str(one['made_at'])[:16]}")
    if not shown:
        console.line("There are no tokens. `recollect token create NAME` makes one.")
