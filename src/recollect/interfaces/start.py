"""Where the programs begin. Ctrl-C while modules are still loading ends them quietly, and streams that whoever started
us has closed become the null device. Loads nothing before that is settled: `signal` would load `enum`, `functools` and
`collections`, ten times as long a moment in which an interrupt still ends in a traceback."""

from __future__ import annotations

import os
import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from signal import SIG_IGN, SIGINT, default_int_handler, getsignal, signal
    from typing import NoReturn
else:
    from _signal import SIG_IGN, SIGINT, default_int_handler, getsignal, signal

INTERRUPTED = 130  # what a shell reports for a program that Ctrl-C ended


def cli() -> NoReturn:
    """`recollect`."""
    heeded = _end_at_interrupt(INTERRUPTED)
    _open_closed_streams()
    from recollect.interfaces.cli import main

    if heeded:
        signal(SIGINT, default_int_handler)  # a command that runs may have something to put in order
    code = main()
    if heeded:
        _end_at_interrupt(code)
    sys.exit(code)


def hook() -> None:
    """`recollect-hook`: a host must see nothing but an answer."""
    _end_at_interrupt(0)
    _open_closed_streams()
    from recollect.interfaces.hook import entry

    entry()


def _end_at_interrupt(code: int) -> bool:
    """End at once when interrupted. A program that was started to ignore that goes on ignoring it."""
    if getsignal(SIGINT) == SIG_IGN:
        return False
    signal(SIGINT, lambda number, frame: os._exit(code))
    return True


def _open_closed_streams() -> None:
    """A closed stdin, stdout or stderr is None in Python, and its number would be given to the next file opened: the
    store itself could be written to by a print."""
    for number, name, mode in ((0, "stdin", "r"), (1, "stdout", "w"), (2, "stderr", "w")):
        if getattr(sys, name) is None:
            null = os.open(os.devnull, os.O_RDWR)
            if null != number:
                os.dup2(null, number)
                os.close(null)
            setattr(sys, name, os.fdopen(number, mode, encoding="utf-8", errors="replace", closefd=False))
