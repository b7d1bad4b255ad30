"""Which rules files there are, whose words they hold, and what they import. Nothing is followed out of the root.

A person's rules are taught; an agent's own notes are an agent's. Which is which is decided here, by where a file lies.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath

from recollect.core.errors import InvalidField
from recollect.core.scope import Source, Visibility
from recollect.documents.guidance.statements import Sheet, split_statements
from recollect.documents.pages import Unreadable, read_text
from recollect.documents.parse import front_matter, shorten
from recollect.files.walk import Found, Skipped, walk

MAX_DEPTH = 5  # imports of imports
_MOST_LINES = 8_000  # of a rules file, or as much as so many cost to parse, and
_MOST_CHARS = 400_000  # characters of it
_NAMES = frozenset(
    {
        "CLAUDE.md", "CLAUDE.local.md", "AGENTS.md", "AGENTS.override.md", "GEMINI.md", "MEMORY.md", ".cursorrules",
        ".windsurfrules", ".clinerules", "copilot-instructions.md",
    }
)  # fmt: skip
_FOLDERS = (".cursor/rules/", ".claude/rules/", ".windsurf/rules/", ".clinerules/", ".github/instructions/")
_UNTRACKED = ("CLAUDE.local.md", ".claude/CLAUDE.md", ".claude/CLAUDE.local.md")  # often ignored by git, still read
_TEXTS = frozenset({".md", ".mdc", ".markdown", ".txt", ""})
_CODEX = ("MEMORY.md", "memory_summary.md")  # of its notes; the rest is raw material for these
_NOTES = frozenset({"memory", "memories"})  # names of folders that agents keep notes in
_GEMINI_NOTES = "Gemini Added Memories"


@dataclass(frozen=True, slots=True)
class Guidance:
    """One file that was read."""

    path: str  # as it is shown and remembered: below the root, or from home
    sheet: Sheet
    source: Source
    visibility: Visibility
    module: str = ""  # the directory its rules are for, when that is not the whole project
    declared: str = ""  # the type that its front matter gives it
    globs: tuple[str, ...] = ()  # the files its rules are for

    def source_of(self, headings: Sequence[str]) -> Source:
        """Whose words stand under some headings: Gemini writes its notes into the person's file."""
        return Source.AGENT_EXPLICIT if _GEMINI_NOTES in headings else self.source


@dataclass(slots=True)
class Gathered:
    files: list[Guidance] = field(default_factory=list)
    skipped: list[Skipped] = field(default_factory=list)


def find_guidance(root: Path, paths: Sequence[Path] = ()) -> Gathered:
    """The rules files of a project, or those that are named, each with what it imports, each once."""
    reading = _Reading(Path(os.path.realpath(root)))
    if not paths:
        reading.project(reading.root)
    for path in paths:
        if not path.exists():
            raise InvalidField(str(path), "there is no such file or directory")
        if path.is_dir():
            reading.folder(Path(os.path.realpath(path)))
        else:
            reading.file(Path(os.path.realpath(path)))
    return reading.gathered


class _Reading:
    def __init__(self, root: Path) -> None:
        self.root = root
        self.gathered = Gathered()
        self._seen: set[Path] = set()

    def project(self, top: Path) -> None:
        """Every rules file below a directory that no ignore rule hides, and the few that git never sees."""
        for one in walk(top, wanted=_is_rules):
            if isinstance(one, Found):
                self.file(one.path)
            elif not one.reason.startswith("a link;"):  # what it names is read where it lies
                self.gathered.skipped.append(one)
        for name in _UNTRACKED:
            if os.path.isfile(top / name):
                self.file(Path(os.path.realpath(top / name)))

    def folder(self, top: Path) -> None:
        """A folder of an agent's notes, a folder of rules, or a project."""
        if _is_notes(top):
            names = [top / name for name in _CODEX] if (top / _CODEX[1]).exists() else sorted(top.glob("*.md"))
            for path in names:
                if path.is_file():
                    self.file(path)
        elif f"{top.parent.name}/{top.name}/" in _FOLDERS:
            for one in walk(top, wanted=lambda name: PurePosixPath(name).suffix in _TEXTS - {""}):
                if isinstance(one, Found):
                    self.file(one.path)
        else:
            self.project(top)

    def file(self, path: Path, depth: int = 0, importer: Guidance | None = None) -> None:
        if path in self._seen:
            return
        self._seen.add(path)
        shown = self._shown(path)
        try:
            text = read_text(path)
            end, front = front_matter(text)
            body = text[end:].removeprefix("\ufeff")
            kept = shorten(body, most=_MOST_LINES, chars=_MOST_CHARS)
            sheet = split_statements(kept, skipped=text[:end].count("\n"))
        except Unreadable as trouble:
            self.gathered.skipped.append(Skipped(shown, trouble.reason, trouble.lasting))
            return
        except RecursionError:
            self.gathered.skipped.append(Skipped(shown, "nested too deeply", lasting=True))
            return
        if len(kept) < len(body):
            told = f"kept the first {len(kept):,} of {len(body):,} characters"
            self.gathered.skipped.append(Skipped(shown, told, lasting=True))
        read = self._guidance(path, shown, sheet, front, importer)
        if sheet.left_out:
            self.gathered.skipped.append(Skipped(shown, f"{sheet.left_out} statements past the most", lasting=True))
        self.gathered.files.append(read)
        self._imports(path, read, depth)

    def _guidance(
        self, path: Path, shown: str, sheet: Sheet, front: dict[str, str], importer: Guidance | None
    ) -> Guidance:
        notes = _is_notes(path.parent) or path.name == "MEMORY.md"
        declared = front.get("type", "").strip("\"' ").lower()
        mine = not path.is_relative_to(self.root) or ".local." in path.name or declared in ("user", "feedback")
        if importer is not None:
            return Guidance(shown, sheet, importer.source, importer.visibility, importer.module, globs=importer.globs)
        return Guidance(
            shown,
            sheet,
            source=Source.AGENT_EXPLICIT if notes else Source.USER_TAUGHT,
            visibility=Visibility.PERSONAL if mine else Visibility.PROJECT,
            module="" if notes else self._module(path),
            declared=declared,
            globs=tuple(_globs(front.get("globs") or front.get("paths") or front.get("applyTo") or "")),
        )

    def _module(self, path: Path) -> str:
        """The directory whose rules these are; nothing for the root's and for folders of rules."""
        if not path.is_relative_to(self.root):
            return ""
        folder = path.relative_to(self.root).parent.as_posix()
        for hidden in (".cursor", ".claude", ".windsurf", ".clinerules", ".github"):
            folder = f"{folder}/".partition(f"{hidden}/")[0].strip("/")
        return "" if folder in (".", "") else folder

    def _imports(self, path: Path, read: Guidance, depth: int) -> None:
        for name, line in read.sheet.imports:
            target = Path(os.path.expanduser(name)) if name.startswith("~/") else path.parent / name
            told = f"@{name} in {read.path}, line {line}"
            is_text = target.suffix.lower() in _TEXTS
            if not target.is_file():
                if target.suffix.lower() in (".md", ".mdc"):
                    self.gathered.skipped.append(Skipped(told, "it is not there"))
                continue
            real = Path(os.path.realpath(target))
            if not real.is_relative_to(self.root):
                self.gathered.skipped.append(Skipped(told, "it lies outside of the project", lasting=True))
            elif not is_text:
                self.gathered.skipped.append(Skipped(told, "it is no text of rules", lasting=True))
            elif depth >= MAX_DEPTH:
                self.gathered.skipped.append(Skipped(told, f"more than {MAX_DEPTH} imports deep", lasting=True))
            else:
                self.file(real, depth + 1, read)

    def _shown(self, path: Path) -> str:
        if path.is_relative_to(self.root):
            return path.relative_to(self.root).as_posix()
        home = Path(os.path.realpath(Path.home()))
        return f"~/{path.relative_to(home).as_posix()}" if path.is_relative_to(home) else path.as_posix()


def _is_rules(relative: str) -> bool:
    path = PurePosixPath(relative)
    if path.name in _NAMES:
        return path.name != "MEMORY.md" or len(path.parts) == 1
    return path.suffix in (".md", ".mdc") and any(f"/{folder}" in f"/{relative}" for folder in _FOLDERS)


def _is_notes(folder: Path) -> bool:
    return folder.name in _NOTES and (folder / "MEMORY.md").exists()


def _globs(given: str) -> Iterator[str]:
    """The patterns of a front matter's field: a list in brackets, or words between commas."""
    for part in given.strip("[]").split(","):
        if pattern := part.strip(" \"'"):
            yield pattern[:200]
