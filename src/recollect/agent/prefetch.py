"""Files an agent will likely read, handed over before it asks: always-files first, within a count and a budget.

The names come from memory and are not trusted: only plain files inside the project, symbolic links followed and
checked, nothing of ours or of version control, secrets hidden.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from pathlib import Path

from recollect.core.summary import MemorySummary
from recollect.core.tokens import ESTIMATE
from recollect.files.plain import read_beneath
from recollect.observer.file_prediction import PredictedFile
from recollect.privacy.scan import redact

MAX_FILES = 12
MAX_TOKENS = 32_000
_MAX_BYTES = 400_000  # of one file; a longer one is data
MAX_TOKENS_PER_FILE = 8_000  # tokens of one file, so that a long one leaves room for the others
MAX_NAMED = 5  # files that are named without being read
# Score of a foreseen file from which it is named: in the earlier half of 371 real sessions over half of such files were
# used, in the later half more. Lower, and most of what is named is noise.
MIN_SCORE = 2.5
_OFF_LIMITS = frozenset({".recollect", ".git", ".hg", ".svn", ".ssh", ".aws", ".gnupg"})
_SECRET_NAMES = (".env", ".netrc", ".npmrc", ".pypirc", "id_rsa", "id_ed25519", "id_ecdsa", "credentials")
_SECRET_ENDINGS = (".pem", ".key", ".p12", ".pfx", ".keystore", ".jks", ".kdbx")


@dataclass(frozen=True, slots=True)
class LoadedFile:
    """A file's text as far as it is handed over."""

    path: str
    text: str
    tokens: int
    cut: bool = False


def list_pattern_files(patterns: Sequence[MemorySummary]) -> list[str]:
    """The files of some patterns: what is always read before what is read often, the surest pattern first."""
    listed = [name for group in ("always", "frequently") for pattern in patterns for name in _names(pattern, group)]
    return list(dict.fromkeys(listed))


def load_files(
    root: Path,
    names: Sequence[str],
    *,
    max_files: int = MAX_FILES,
    max_tokens: int = MAX_TOKENS,
    count: Callable[[str], int] = ESTIMATE.count,
) -> list[LoadedFile]:
    """The files of `names` that are there and may be read, in order, as many as fit."""
    loaded: list[LoadedFile] = []
    room = max_tokens
    for name in dict.fromkeys(names):
        if len(loaded) >= max_files or room <= 0:
            break
        text = _read(root, name)
        if text is None:
            continue
        kept, cut = _take_lines(text, min(room, MAX_TOKENS_PER_FILE), count)
        if kept:
            tokens = count(kept)
            loaded.append(LoadedFile(name, kept, tokens, cut))
            room -= tokens
    return loaded


def name_likely_files(root: Path, foreseen: Sequence[PredictedFile], *, without: Collection[str] = ()) -> list[str]:
    """The foreseen files that are probable enough to be named and that are there, each with the first reason why."""
    sure = [file for file in foreseen if file.score >= MIN_SCORE and file.path not in without]
    there = [file for file in sure if (path := resolve_inside(root, file.path)) is not None and path.is_file()]
    return [f"{file.path} ({file.because[0]})" if file.because else file.path for file in there[:MAX_NAMED]]


def resolve_inside(root: Path, name: str) -> Path | None:
    """The file a name means, if that lies inside the project once every link is followed; else nothing."""
    if not name or "\0" in name or os.path.isabs(name) or name.startswith("~") or len(name) > 500:
        return None
    base = Path(os.path.realpath(root))
    real = Path(os.path.realpath(base / name.replace("\\", "/")))
    if base not in real.parents:
        return None
    parts = [part.casefold() for part in real.relative_to(base).parts]
    if _OFF_LIMITS.intersection(parts) or parts[-1].startswith(_SECRET_NAMES) or parts[-1].endswith(_SECRET_ENDINGS):
        return None
    return real


def _read(root: Path, name: str) -> str | None:
    """The text of a plain file; nothing for anything else, however it got there. Between looking and opening a folder
    may become a link: the file is opened folder by folder, through none."""
    path = resolve_inside(root, name)
    if path is None:
        return None
    base = os.path.realpath(root)
    data = read_beneath(base, os.path.relpath(path, base).replace(os.sep, "/"), max_bytes=_MAX_BYTES)
    if data is None or b"\0" in data:
        return None
    return redact(data.decode("utf-8", "replace")).text


def _take_lines(text: str, room: int, count: Callable[[str], int]) -> tuple[str, bool]:
    """As many whole lines as fit."""
    if count(text) <= room:
        return text, False
    kept: list[str] = []
    spent = 0
    for line in text.split("\n"):
        spent += count(line) + 1
        if spent > room:
            break
        kept.append(line)
    return "\n".join(kept), True


def _names(pattern: MemorySummary, group: str) -> list[str]:
    listed = pattern.payload.get(group)
    return [name for name in listed if isinstance(name, str)] if isinstance(listed, list | tuple) else []
