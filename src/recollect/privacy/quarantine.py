"""Does a text try to give orders to a model? Told from a few phrases; light to load.

Phrases stop nobody who is careful: what keeps orders out is that untrusted text is never told unasked before a person
confirmed it, and is fenced when it is. This only keeps the blunt ones from being told even then.
"""

from __future__ import annotations

import re

from recollect.core.lazy import Lazy

_TARGET = r"(?:all |any |the |your |these |those |my )*(?:previous|prior|above|earlier|preceding|existing|former|other)"
_ORDERS = Lazy(
    rf"\b(?:ignore|disregard|forget|override|bypass|discard)\b[^.\n]{{0,30}}\b{_TARGET}\b[^.\n]{{0,30}}"
    r"\b(?:instructions?|rules?|prompts?|messages?|guidelines?|directions?|context|constraints?)\b"
    r"|\b(?:do not|don't|never)\s+(?:tell|inform|mention|reveal|show|let)\b[^.\n]{0,20}\b(?:user|human|owner)\b"
    r"|\b(?:reveal|print|repeat|output|leak|expose)\b[^.\n]{0,30}\b(?:system|hidden|initial)\s+(?:prompt|instructions?)\b"
    r"|\byou\s+(?:are\s+now|must\s+now|will\s+now)\b"
    r"|\bfrom\s+now\s+on,?\s+(?:you|always|every|ignore|respond|answer)\b"
    r"|\b(?:pretend|act)\s+(?:to\s+be|as|like)\b[^.\n]{0,40}\b(?:unrestricted|jailbroken|dan|developer\s+mode|no\s+rules)\b"
    r"|\b(?:new|updated|important|urgent)\s+(?:system\s+)?instructions?\s*:"
    r"|\b(?:send|post|upload|forward|exfiltrate|transmit|email|mail)\b[^.\n]{0,60}"
    r"\b(?:passwords?|credentials?|secrets?|tokens?|api[ _-]?keys?|private\s+keys?|\.env|environment\s+variables)\b"
    r"|\b(?:curl|wget)\b[^\n|]{0,200}\|\s*(?:sudo\s+)?(?:ba|z|da)?sh\b",
    re.IGNORECASE,
)
_LOOKED_AT = 20_000  # characters


def gives_orders(text: str) -> bool:
    """Does it read like an instruction to a model rather than a statement?"""
    return _ORDERS.search(text[:_LOOKED_AT]) is not None
