"""Serving hosts: `recollect mcp` over stdio; `recollect hook HOST`, the same as the lean program `recollect-hook`, for
trying it out."""

from __future__ import annotations

import argparse
import os
from importlib.util import find_spec
from pathlib import Path

from recollect.core.errors import ExtraMissing
from recollect.interfaces.cli.console import FINE, Console
from recollect.interfaces.hook import HOSTS, main
from recollect.interfaces.mcp import PROFILES
from recollect.interfaces.start import INTERRUPTED

_HOST_PROJECT = "CLAUDE_PROJECT_DIR"  # hosts that start servers elsewhere than in the project say so here


def arguments_mcp(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--profile",
        choices=PROFILES,
        default="default",
        help="which tools: default (eight), assistant (six plain ones instead), default plus code, docs or admin,"
        " or hooks (one, for a host's hooks)",
    )


def run_mcp(args: argparse.Namespace, console: Console) -> int:
    if find_spec("mcp") is None:
        raise ExtraMissing("The MCP server", package="mcp", extra="mcp")
    from recollect.interfaces.mcp.stdio import end_with_host

    end_with_host()
    try:
        _serve(args)
    except KeyboardInterrupt:
        os._exit(INTERRUPTED)
    os._exit(FINE)  # a thread may still be waiting for the host's next line, and would keep the process


def _serve(args: argparse.Namespace) -> None:
    """The first words come from stored answers; the SDK and the memory are loaded for the first real request."""
    from recollect.interfaces.mcp.greeting import greet, load_answers
    from recollect.interfaces.mcp.stdio import HostInput, HostOutput, claim_wires

    store = args.store or _host_project()  # the folder may be gone when the first request comes
    heard, said = None, None
    if os.name == "posix":  # elsewhere the SDK knows better how to claim the wires
        wires = claim_wires()
        opening = greet(*wires, load_answers(args.profile, read_only=args.read_only))
        if opening is None:
            return
        heard, said = HostInput(wires[0], opening.lines), HostOutput(wires[1], opening.answered)
    from recollect.interfaces.mcp.handle import MemoryHandle
    from recollect.interfaces.mcp.server import serve_stdio

    handle = MemoryHandle(store, read_only=args.read_only, actor=args.actor or "mcp")
    serve_stdio(handle, profile=args.profile, heard=heard, said=said)


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
