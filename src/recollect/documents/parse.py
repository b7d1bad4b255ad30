"""A document as its structure: blocks with the lines they stand on, headings, and the references it makes. Pure.

Blocks come from a CommonMark parser with tables; front matter is cut off before. Lines are numbered from 0 as
they stand in the file. The text of paragraphs is only read where it can hold a reference: that is what costs.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from dataclasses import dataclass, field
from functools import cache
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

if TYPE_CHECKING:
    from markdown_it import MarkdownIt

ReferenceKind: TypeAlias = Literal["link", "image", "wiki", "spec", "refs"]

SECTION_LEVELS = 3  # headings of deeper levels do not begin a section
_NESTED = frozenset({"list_item_open", "blockquote_open", "paragraph_open", "tr_open", "fence", "code_block"})
_LINE_END = re.compile(r"\r\n|\r|\n")
_FRONT = re.compile(r"---[ \t]*(?:\r\n|\r|\n)(?:.*?(?:\r\n|\r|\n))??(?:---|\.\.\.)[ \t]*(?:\r\n|\r|\n|\Z)", re.DOTALL)
_FRONT_FIELD = re.compile(r"^([A-Za-z_][\w-]*)[ \t]*:[ \t]*(.*?)[ \t]*$", re.MULTILINE)
_MAY_REFER = re.compile(r"[\[<]|specs/|refs\s*:", re.IGNORECASE)
_LONGEST_READ = 50_000  # characters of one paragraph that are looked through for references
_MOST_FRONT = 20_000  # characters of front matter
_WIKI = re.compile(r"(?<!!)\[\[([^\[\]\n|#]{1,200})(?:#[^\[\]\n|]*)?(?:\|[^\[\]\n]*)?\]\]")
_SPEC = re.compile(r"(?<![\w/.\-\[(])specs/([A-Za-z0-9][\w-]*)(?:/spec\.md)?(?![\w/])")
_REFS = re.compile(r"^[ \t>*_-]*refs[*_]*[ \t]*:[*_]*[ \t]*(.+)$", re.IGNORECASE | re.MULTILINE)
_REF_NAME = re.compile(r"[A-Za-z0-9][\w./-]*")
_HREF = re.compile(r"<(a|img)\b[^<>]{0,500}?\b(?:href|src)\s*=\s*[\"']([^\"'>]+)[\"']", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Heading:
    """A heading that begins a section."""

    line: int
    level: int
    text: str


@dataclass(frozen=True, slots=True)
class Block:
    """Some lines that belong together. `whole` ones should not be cut if that can be helped."""

    start: int
    end: int
    whole: bool = False


@dataclass(frozen=True, slots=True)
class Reference:
    """Something the document points at, as it is written there."""

    target: str
    kind: ReferenceKind
    line: int


@dataclass(frozen=True, slots=True)
class Parsed:
    """The structure of one document."""

    text: str
    lines: tuple[int, ...]  # where each line starts, and last the length of the text
    headings: tuple[Heading, ...] = ()
    blocks: tuple[Block, ...] = ()  # top-level ones, in order
    inner: tuple[int, ...] = ()  # lines at which something nested begins: list items, table rows, quoted paragraphs
    references: tuple[Reference, ...] = ()
    front: dict[str, str] = field(default_factory=dict)

    @property
    def title(self) -> str:
        """What the document calls itself; empty when it does not."""
        given = self.front.get("title", "").strip("\"'")
        if given:
            return given
        first = next((heading for heading in self.headings if heading.level == 1), None)
        return first.text if first else (self.headings[0].text if self.headings else "")


def parse(text: str, *, markdown: bool = True) -> Parsed:
    """The structure of a text. Plain text has no headings and no references, only paragraphs."""
    lines = _line_starts(text)
    if not markdown:
        return Parsed(text, lines, blocks=_paragraphs(text, lines))
    front_end, front = front_matter(text)
    skipped = _line_at(lines, front_end)
    environment: dict[str, Any] = {}
    tokens = block_parser().parse(text[front_end:].removeprefix("\ufeff"), environment)
    reading = _Reading(skipped, environment)
    if skipped:
        reading.blocks.append(Block(0, skipped, whole=True))
    for place, token in enumerate(tokens):
        reading.take(token, tokens[place - 1] if place else None)
    return Parsed(
        text,
        lines,
        tuple(reading.headings),
        tuple(reading.blocks),
        tuple(sorted(reading.inner)),
        tuple(reading.references),
        front,
    )


class _Reading:
    """What is gathered while the tokens go by."""

    def __init__(self, skipped: int, environment: dict[str, Any]) -> None:
        self._skipped = skipped
        self._environment = environment
        self.headings: list[Heading] = []
        self.blocks: list[Block] = []
        self.inner: set[int] = set()
        self.references: list[Reference] = []

    def take(self, token: Any, before: Any) -> None:
        if token.map is None:
            return
        start, end = token.map[0] + self._skipped, token.map[1] + self._skipped
        if token.type == "inline":
            if before is not None and before.type == "heading_open" and before.level == 0:
                self._heading(before, token, start)
            self._references(token.content, start)
        elif token.level == 0:
            self.blocks.append(Block(start, end, whole=token.type in ("fence", "code_block", "table_open")))
        elif token.type in _NESTED:
            self.inner.add(start)
        if token.type == "html_block":
            self._html(token.content, start)

    def _heading(self, opening: Any, inline: Any, line: int) -> None:
        level = int(opening.tag[1])
        if level <= SECTION_LEVELS:
            self.headings.append(Heading(line, level, _plain(inline.content)))

    def _references(self, content: str, line: int) -> None:
        if _MAY_REFER.search(content) is None or len(content) > _LONGEST_READ:
            return
        words: list[str] = []
        at = line
        for child in _inline(content, self._environment):
            if child.type in ("softbreak", "hardbreak"):
                at += 1
                words.append("\n")
            elif child.type == "link_open":
                self.references.append(Reference(str(child.attrs.get("href", "")), "link", at))
                words.append("\0")  # the text of a link is no bare mention
            elif child.type == "link_close":
                words.append("\0")
            elif child.type == "image":
                self.references.append(Reference(str(child.attrs.get("src", "")), "image", at))
            elif child.type == "html_inline":
                self._html(child.content, at)
            elif child.type == "text":
                words.append(child.content)
        self._mentions("".join(words), line)

    def _mentions(self, text: str, line: int) -> None:
        """Wiki links, bare specs and Refs lines in the running text, outside of code and links."""
        for found in _WIKI.finditer(text):
            self.references.append(Reference(found[1].strip(), "wiki", line + text.count("\n", 0, found.start())))
        told = [match.span() for match in _REFS.finditer(text)]
        for start, end in told:
            at = line + text.count("\n", 0, start)
            listed = text[start:end].partition(":")[2]
            self.references += [Reference(name.rstrip("."), "refs", at) for name in _REF_NAME.findall(listed)]
        for found in _SPEC.finditer(text):
            if not any(start <= found.start() < end for start, end in told):
                self.references.append(Reference(found[1], "spec", line + text.count("\n", 0, found.start())))

    def _html(self, content: str, line: int) -> None:
        for found in _HREF.finditer(content[:_LONGEST_READ]):
            kind: ReferenceKind = "link" if found[1].lower() == "a" else "image"
            self.references.append(Reference(found[2], kind, line + content.count("\n", 0, found.start())))


@cache
def block_parser() -> MarkdownIt:
    """Markdown as blocks with their lines; what stands inside a block is left as it is."""
    from markdown_it import MarkdownIt

    parser = MarkdownIt("commonmark").enable("table")
    parser.core.ruler.enableOnly(["normalize", "block"])
    return parser


@cache
def _inline_parser() -> MarkdownIt:
    from markdown_it import MarkdownIt

    parser = MarkdownIt("commonmark")
    parser.inline.ruler.enableOnly(
        ["text", "newline", "escape", "backticks", "link", "image", "autolink", "html_inline", "entity"]
    )
    parser.validateLink = lambda url: True  # type: ignore[method-assign]  # we follow none of them
    parser.normalizeLink = lambda url: url  # type: ignore[method-assign]
    return parser


def _inline(content: str, environment: dict[str, Any]) -> list[Any]:
    parser = _inline_parser()
    children: list[Any] = []
    parser.inline.parse(content, parser, environment, children)
    return children


def _plain(content: str) -> str:
    """A heading as people read it: without marks of emphasis, code and links."""
    text = re.sub(r"!?\[([^\[\]]*)\]\([^()]*\)", r"\1", content)
    text = re.sub(r"\{#[\w:.-]+\}\s*$", "", text)
    return re.sub(r"\s+", " ", re.sub(r"[`*]|(?<!\w)_|_(?!\w)", "", text)).strip()


def _line_starts(text: str) -> tuple[int, ...]:
    starts = [0, *(match.end() for match in _LINE_END.finditer(text))]
    if starts[-1] != len(text):
        starts.append(len(text))
    return tuple(starts) if len(starts) > 1 else (0, len(text))


def _line_at(lines: tuple[int, ...], place: int) -> int:
    return bisect_left(lines, place)


def _front_end(text: str) -> int:
    """Where the front matter ends; 0 when there is none."""
    start = 1 if text.startswith("\ufeff") else 0
    found = _FRONT.match(text[: start + _MOST_FRONT], start)
    return found.end() if found and _FRONT_FIELD.search(found[0]) else 0


def front_matter(text: str) -> tuple[int, dict[str, str]]:
    """Where the front matter ends, and its plain fields; 0 and none when there is none."""
    end = _front_end(text)
    return end, dict(_FRONT_FIELD.findall(text[:end])) if end else {}


def _paragraphs(text: str, lines: tuple[int, ...]) -> tuple[Block, ...]:
    blocks: list[Block] = []
    start: int | None = None
    for number in range(len(lines) - 1):
        blank = not text[lines[number] : lines[number + 1]].strip()
        if blank and start is not None:
            blocks.append(Block(start, number))
            start = None
        elif not blank and start is None:
            start = number
    if start is not None:
        blocks.append(Block(start, len(lines) - 1))
    return tuple(blocks)
