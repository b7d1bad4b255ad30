"""One key at a time from a terminal, without Enter; a line at a time where the input is no terminal of its own."""

from __future__ import annotations

import io
import os
import sys

ENTER, UP, DOWN, END = "enter", "up", "down", "end"
_NAMED = {"\r": ENTER, "\n": ENTER, "\x04": END, "\x1b[A": UP, "\x1bOA": UP, "\x1b[B": DOWN, "\x1bOB": DOWN}
_LONGEST = 8  # bytes of one key: an escape sequence, or a letter of several bytes


def ask_key(prompt: str) -> str:
    """The next key, as its letter or its name. `end` when there is no more input."""
    sys.stdout.write(prompt)
    sys.stdout.flush()
    descriptor = _terminal()
    if descriptor is None:
        line = sys.stdin.readline()
        if not line:
            return END
        return _NAMED.get(line[:1], line[:1].casefold())
    typed = _read_raw(descriptor)
    sys.stdout.write("\n")
    return END if not typed else _NAMED.get(typed, typed[:1].casefold())


def ask_text(prompt: str, *, given: str = "") -> str:
    """A line of text; at a terminal it begins with `given`, to be changed. Nothing when there is no more input."""
    hook = None
    if given and _terminal() is not None:
        try:
            import readline
        except ImportError:  # not on every system: they type it all
            pass
        else:
            hook = readline.set_startup_hook
            hook(lambda: readline.insert_text(given))
    try:
        return input(prompt).strip()
    except EOFError:
        return ""
    finally:
        if hook is not None:
            hook()


def _terminal() -> int | None:
    """The terminal behind stdin, where keys can be read as they are pressed."""
    try:
        descriptor = sys.stdin.fileno()
    except (AttributeError, io.UnsupportedOperation, ValueError):
        return None
    return descriptor if os.name == "posix" and os.isatty(descriptor) else None


def _read_raw(descriptor: int) -> str:
    import termios
    import tty

    before = termios.tcgetattr(descriptor)
    try:
        tty.setcbreak(descriptor, termios.TCSANOW)  # what was typed ahead counts, and Ctrl-C still interrupts
        return os.read(descriptor, _LONGEST).decode("utf-8", "replace")
    finally:
        termios.tcsetattr(descriptor, termios.TCSADRAIN, before)
