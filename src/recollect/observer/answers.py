"""What a tool answered, as far as it is looked at: clipped, and whether it failed or was refused. Light to load."""

from __future__ import annotations

RESULT_HEAD, RESULT_TAIL = 3000, 1000  # characters that are kept: imports and commands lead, failures end it
_REJECTED = ("doesn't want to proceed with this tool use", "doesn't want to take this action", "denied by user",
             "user rejected", "rejected by user", "request interrupted by user")  # fmt: skip
_DROPPED = "Sibling tool call errored"  # a call dropped because another failed has not failed itself


def judged(text: str, *, error: bool) -> tuple[bool, bool]:
    """Did a call fail that its host says failed, and was that because a person said no?"""
    failed = error and _DROPPED not in text[:200]
    return failed, failed and any(sign in text[:400].casefold().replace("’", "'") for sign in _REJECTED)


def clipped(text: str, head: int, tail: int) -> str:
    """The text, or its two ends when it is longer than both together."""
    return text if len(text) <= head + tail else f"{text[:head]}\n…\n{text[-tail:]}"
