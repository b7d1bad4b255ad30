"""Settings: one frozen value, read once from two TOML files and the environment, then passed down.

The person's own file and the environment may choose everything. The file beside a store comes with the repository, so
it may only choose what keeps data here, runs nothing and raises nothing; the rest of it is ignored, and said so.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from pathlib import Path
from typing import Any

from recollect.core.errors import InvalidField
from recollect.files.plain import is_inside, read_plain_file
from recollect.files.project import FOLDER, settings_folder


@dataclass(frozen=True, slots=True)
class Settings:
    """What can be chosen. Every name works in `config.toml` and, upper-cased with RECOLLECT_, in the environment."""

    actor: str = ""  # who the log names; empty: the login name
    recipe: str = "measured"  # which set of recall weights: measured, or the design's own: seed
    embedder: str = "auto"  # auto, none, pack:NAME, ollama[:MODEL], openai:MODEL[:DIMS], fastembed, URL#MODEL[:DIMS]
    reranker: str = "none"  # none, onnx[:PACK], ollama[:MODEL], cohere[:MODEL], URL#MODEL
    model: str = "none"  # none, openai:MODEL, ollama:MODEL, URL#MODEL, pydantic-ai:PROVIDER:MODEL
    tokens_per_day: int = 200_000  # what the language model may use in a day, all features together
    tokens_per_session: int = 50_000  # what it may use on behalf of one session
    model_timeout: float = 300.0  # seconds the language model may think about one answer
    memory: str = "recollect"  # what `chat` remembers with: recency, semantic, recollect, or a plugin's name
    semantic_recall: str = "on"  # on or off; off: the provider `semantic` loads no model
    names: str = "auto"  # who finds names at night: auto (spaCy when it is here), rules, spacy, llm, spacy+llm
    busy_timeout: float = 30.0  # seconds a writer queues before it reports the store as busy
    replica_dsn: str = ""  # a copy of a store on PostgreSQL that answers reads while it keeps up; empty: none
    methodology: str = "native"  # how phases and work units are named
    sync_server: str = ""  # the team's server to sync with, such as https://memory.example.org; empty: none
    sync_token: str = ""  # a person's token of that server
    sync_mode: str = "all"  # what leaves this machine: all (but personal memories and secrets), or vectors: no words
    documents: Mapping[str, Any] = field(default_factory=dict)  # a table: preset, roots, ignore, rules, specs, detector


FILE = "config.toml"
SECRET = frozenset({"sync_token"})  # settings that nobody is shown
_MAX_BYTES = 256_000  # of a settings file
_TABLES = frozenset({"documents"})  # for files only; the room that uses one checks what is in it


@dataclass(frozen=True, slots=True)
class LoadedSettings:
    """The settings that hold, and what a repository asked for in vain."""

    settings: Settings
    file: str = ""  # the repository's own
    ignored: tuple[tuple[str, str], ...] = ()  # the name of a setting, and why a repository may not choose it so

    @property
    def notice(self) -> str:
        """One line for the person; empty when nothing was ignored."""
        if not self.ignored:
            return ""
        told = "; ".join(f"{name[:_MAX_NAME]} ({why})" for name, why in self.ignored[:_MAX_NAMED])
        more = f" and {len(self.ignored) - _MAX_NAMED} more" if len(self.ignored) > _MAX_NAMED else ""
        mine = os.path.join(settings_folder(), FILE)
        return f"Ignored in {self.file}: {told}{more}. To choose it, put it in {mine} or in the environment."


_MAX_NAMED = 5
_MAX_NAME = 60  # characters: a repository chose them


def load_settings(folder: Path | None, environment: Mapping[str, str] = os.environ) -> LoadedSettings:
    """Defaults, then the person's own file, then what the file beside the store may choose, then the environment."""
    settings = Settings()
    mine = os.path.join(settings_folder(), FILE)
    if os.path.isfile(mine):
        settings = _merged(settings, _toml(mine, _read_mine(mine)), mine)
    file = ""
    ignored: list[tuple[str, str]] = []
    if folder is not None and os.path.lexists(beside := os.fspath(folder / FILE)) and beside != mine:
        file = beside
        settings, ignored = _limited(settings, _toml(file, read_plain_file(file, max_bytes=_MAX_BYTES)), _home(folder))
    given = {
        field.name: environment[name]
        for field in fields(Settings)
        if (name := f"RECOLLECT_{field.name.upper()}") in environment and field.name not in _TABLES
    }
    return LoadedSettings(_merged(settings, given, "the environment"), file, tuple(ignored))


# --- what a repository may choose -------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Limit:
    """How far a repository may choose a setting: some values, or a lower number than holds, or as it likes."""

    values: tuple[str, ...] = ()
    lower: bool = False

    def __str__(self) -> str:
        return "lower" if self.lower else ", ".join(self.values) or "yes"

    def refuses(self, asked: Any, holding: Any) -> str:
        """Why what it asks for is refused; empty when it is not."""
        if self.lower and asked > holding:
            return f"a repository may only lower it, and {holding:,} holds"
        if self.values and asked not in self.values:
            return f"a repository may only say {' or '.join(self.values)}"
        return ""


# Whatever can send data elsewhere, run a program, speak for someone or raise a limit is the person's alone; a
# repository may switch it off. A setting that is not listed is the person's too.
REPOSITORY_MAY: Mapping[str, Limit] = {
    "recipe": Limit(),
    "embedder": Limit(("none",)),
    "reranker": Limit(("none",)),
    "model": Limit(("none",)),
    "tokens_per_day": Limit(lower=True),
    "tokens_per_session": Limit(lower=True),
    "model_timeout": Limit(lower=True),
    "memory": Limit(("recency", "semantic", "recollect")),
    "semantic_recall": Limit(("off",)),
    "names": Limit(("rules",)),
    "busy_timeout": Limit(lower=True),
    "methodology": Limit(("native", "bmad", "tdd")),
}
_PERSONAL = "only you may choose it"


def _limited(settings: Settings, asked: Mapping[str, Any], root: str) -> tuple[Settings, list[tuple[str, str]]]:
    """The settings with what a repository may choose, and what was refused."""
    chosen: dict[str, Any] = {}
    refused: list[tuple[str, str]] = []
    for name, value in asked.items():
        try:
            if name == "documents":
                table, more = _limit_documents(_typed(name, value), root)
                chosen[name] = {**settings.documents, **table}
                refused += more
                continue
            limit = REPOSITORY_MAY.get(name)
            known = name in Settings.__dataclass_fields__
            why = (_PERSONAL if known else "there is no such setting") if limit is None else ""
            if limit is not None:
                value = _typed(name, value)
                why = limit.refuses(value, getattr(settings, name))
        except InvalidField as error:
            why = str(error).removeprefix(f"{name}: ").rstrip(".")
        if why:
            refused.append((name, why))
        else:
            chosen[name] = value
    return replace(settings, **chosen), refused


_DOCUMENTS = frozenset({"preset", "ignore", "rules"})  # say what is a document and which of them not to read


def _limit_documents(table: Mapping[str, Any], root: str) -> tuple[dict[str, Any], list[tuple[str, str]]]:
    chosen: dict[str, Any] = {}
    refused: list[tuple[str, str]] = []
    for name, value in table.items():
        why = ""
        if name in ("roots", "specs"):
            paths = [value] if isinstance(value, str) else list(value) if isinstance(value, Sequence) else [value]
            if not all(isinstance(path, str) and is_inside(root, path) for path in paths):
                why = "it leads out of the project"
        elif name not in _DOCUMENTS:
            why = _PERSONAL if name == "detector" else "there is no such setting"
        if why:
            refused.append((f"documents.{name}", why))
        else:
            chosen[name] = value
    return chosen, refused


def _home(folder: Path) -> str:
    """The project that a store's folder belongs to."""
    return os.fspath(folder.parent if folder.name == FOLDER else folder)


# --- reading ----------------------------------------------------------------------------------------------------------


def _read_mine(file: str) -> bytes | None:
    """The person's own file. It may be a link, as people keep such files elsewhere; it must be theirs."""
    state = os.stat(file)
    if hasattr(os, "geteuid") and state.st_uid not in (os.geteuid(), 0):
        raise InvalidField(file, "it belongs to another user")
    return read_plain_file(os.path.realpath(file), max_bytes=_MAX_BYTES)


def _toml(file: str, data: bytes | None) -> dict[str, Any]:
    import tomllib  # only those who have a file pay for it

    if data is None:
        raise InvalidField(file, f"not a plain file of at most {_MAX_BYTES:,} bytes")
    try:
        return tomllib.loads(data.decode("utf-8"))
    except (tomllib.TOMLDecodeError, UnicodeDecodeError, RecursionError) as error:
        raise InvalidField(file, f"not readable as TOML ({error})") from None


def _merged(settings: Settings, given: Mapping[str, Any], where: str) -> Settings:
    known = {field.name for field in fields(Settings)}
    for name in sorted(set(given) - known):
        raise InvalidField(name, f"{where} sets it, but there is no such setting; there are {', '.join(sorted(known))}")
    return replace(settings, **{name: _typed(name, value) for name, value in given.items()})


def _typed(name: str, value: Any) -> Any:
    if name in _TABLES:
        if not isinstance(value, Mapping):
            raise InvalidField(name, f"expected a table, not {value!r}")
        return value
    if name in ("tokens_per_day", "tokens_per_session"):
        return _tokens(name, value)
    if name not in ("busy_timeout", "model_timeout"):
        if not isinstance(value, str):
            raise InvalidField(name, f"expected a text, not {value!r}")
        return value
    try:
        seconds = float(value)
    except (TypeError, ValueError):
        seconds = -1.0
    if not 0 < seconds < 86_400:
        raise InvalidField(name, f"{value!r} is not a number of seconds")
    return seconds


def _tokens(name: str, value: Any) -> int:
    try:
        tokens = int(value)
    except (TypeError, ValueError):
        tokens = -1
    if isinstance(value, bool) or tokens < 0:
        raise InvalidField(name, f"{value!r} is not a number of tokens")
    return tokens
