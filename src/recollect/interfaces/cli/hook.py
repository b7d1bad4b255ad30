"""`recollect hook HOST`: the same as `recollect-hook HOST`, for trying it out; hosts start the lean program."""

from __future__ import annotations

import argparse

from recollect.interfaces.cli.console import Console
from recollect.interfaces.hook import main
from recollect.interfaces.protocols import HOSTS


def arguments_hook(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("host", choices=sorted(HOSTS), help="whose event is on stdin")


def run_hook(args: argparse.Namespace, console: Console) -> int:
    return main([args.host])
