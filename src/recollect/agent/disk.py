"""What the disk says of a call before it is made: does its path exist, is the text it replaces there? Light to load.

One look at one file, only inside the project, links followed and checked; what is read is compared and let go. The
answer is one word, kept with the event, so that it is learnt whether such calls fail here.
"""

from __future__ import annotations

import os
import stat

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from typing import Any

MISSING, ABSENT, SEVERAL = "missing", "absent", "several"  # no such path; text not in the file; more than once in it
_OLD = ("old_string", "old_str", "oldString", "old_text")
_ALL = ("replace_all", "replaceAll", "expected_replacements", "allow_multiple")  # then several are what is wanted
_MOST = 1_000_000  # bytes of a file that is looked into


def looked(path: str, given: Mapping[str, Any], *, folder: str, roots: Iterable[str]) -> str:
    """The word for a call that touches `path`; nothing when all is as it should be, or it is none of our business."""
    try:
        whole = os.path.realpath(os.path.join(folder, path))
        if not any(_within(whole, os.path.realpath(root)) for root in roots):
            return ""
        found = os.stat(whole)
    except FileNotFoundError:
        return MISSING
    except (OSError, ValueError):
        return ""
    old = next((value for name in _OLD if isinstance(value := given.get(name), str) and value), "")
    if not old or not stat.S_ISREG(found.st_mode) or found.st_size > _MOST:
        return ""
    return _compared(whole, old, several=any(given.get(name) for name in _ALL))


def _compared(path: str, old: str, *, several: bool) -> str:
    try:
        with open(path, "rb") as file:
            text = file.read(_MOST + 1).replace(b"\r\n", b"\n")
    except OSError:
        return ""
    times = text.count(old.replace("\r\n", "\n").encode("utf-8", "replace"))
    return ABSENT if times == 0 else SEVERAL if times > 1 and not several else ""


def _within(path: str, root: str) -> bool:
    return path == root or path.startswith(root.rstrip(os.sep) + os.sep)
