"""Serving hosts: `recollect mcp` over stdio or local HTTP; `recollect hook HOST`, the same as the lean program
`recollect-hook`, for trying it out."""

from __future__ import annotations

import argparse
import os
import secrets
import sys
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING

from recollect.core.errors import ExtraMissing
from recollect.interfaces.cli.console import FINE, Console
from recollect.interfaces.hook import HOSTS, main
from recollect.interfaces.mcp import PROFILES
from recollect.interfaces.start import INTERRUPTED

if TYPE_CHECKING:
    from recollect.interfaces.mcp.handle import MemoryHandle

_TOKEN = "RECOLLECT_MCP_TOKEN"
_HOST_PROJECT = "CLAUDE_PROJECT_DIR"  # hosts that start servers elsewhere than in the project say so here


def arguments_mcp(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--profile",
        choices=PROFILES,
        default="default",
        help="which tools: default (eight), assistant (six plain ones instead), default plus code, docs or admin,"
        " or hooks (one, for a host's hooks)",
    )
    parser.add_argument(
        "--http",
        metavar="HOST:PORT",
        help=f"listen on this machine instead of stdio; the token is in {_TOKEN}, else a new one is shown",
    )


def run_mcp(args: argparse.Namespace, console: Console) -> int:
    if find_spec("mcp") is None:
        raise ExtraMissing("The MCP server", package="mcp", extra="mcp")
    if not args.http:
        from recollect.interfaces.mcp.stdio import end_with_host

        end_with_host()
    from recollect.interfaces.mcp.handle import MemoryHandle

    handle = MemoryHandle(args.store or _host_project(), read_only=args.read_only, actor=args.actor or "mcp")
    if args.http:
        return _serve_over_http(args, handle, console)
    from recollect.interfaces.mcp.server import serve_stdio

    try:
        serve_stdio(handle, profile=args.profile)
    except KeyboardInterrupt:
        os._exit(INTERRUPTED)
    os._exit(FINE)  # a thread may still be waiting for the host's next line, and would keep the process


def _serve_over_http(args: argparse.Namespace, handle: MemoryHandle, console: Console) -> int:
    from recollect.interfaces.mcp.http import serve_http

    given = os.environ.get(_TOKEN)
    token = given or secrets.token_urlsafe(32)

    def ready(url: str) -> None:
        told = {"url": url} if given else {"url": url, "token": token}
        if console.json:
            console.value(told)
        else:
            for name, value in told.items():
                console.line(f"{name:>6}  {value}")
        sys.stdout.flush()

    serve_http(handle, args.http, token=token, profile=args.profile, ready=ready)
    return FINE


def _host_project() -> str | None:
    """The project the host names, if it is a directory; else where we were started decides."""
    named = os.environ.get(_HOST_PROJECT)
    if not named or not os.path.isdir(named):
        return None
    from recollect.files.project import find_root

    return str(find_root(Path(named)))


def arguments_hook(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("host", choices=sorted(HOSTS), help="whose event is on stdin")


def run_hook(args: argparse.Namespace, console: Console) -> int:
    return main([args.host])
