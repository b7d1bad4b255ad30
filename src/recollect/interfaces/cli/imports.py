"""`recollect import`: chats from elsewhere as episodes, rules files as memories."""

from __future__ import annotations

import argparse
from pathlib import Path

from recollect.interfaces.cli.console import FINE, Console, open_from


def arguments_import(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("path", help="conversations.json, the export's zip or folder, or lines of JSON")
    parser.add_argument("--format", choices=["auto", "chatgpt", "claude", "jsonl"], default="auto")


def run_import(args: argparse.Namespace, console: Console) -> int:
    with open_from(args, create=True) as memory:
        done = memory.sessions.import_chats(
            Path(args.path), format=args.format, progress=lambda count, _: console.progress("messages", count)
        )
    console.progress_done()
    if console.json:
        told = {"messages": done.messages, "captured": done.captured, "known": done.known}
        console.value({**told, "left_out": done.left_out, "sessions": done.sessions})
    else:
        console.line(
            f"{done.captured:,} of {done.messages:,} messages captured from {done.sessions:,} sessions"
            f" ({done.known:,} known before, {done.left_out:,} without words)."
        )
    return FINE
