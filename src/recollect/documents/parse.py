"""A document as its structure: blocks with the lines they stand on, headings, and the references it makes. Pure.

Blocks come from a CommonMark parser with tables; front matter is cut off before. Lines are numbered from 0 as
they stand in the file. The text of paragraphs is only read where it can hold a reference: that is what costs.

The parser is given a piece of the text at a time and only so much work: a piece ends where no block can reach across.
What is past the limit is read plainly: headings with "#", code fences, paragraphs, links. `notes` say where that began.
"""

from __future__ import annotations

import re
from array import array
from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import cache
from itertools import accumulate, count, islice
from operator import add
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

if TYPE_CHECKING:
    from markdown_it import MarkdownIt

ReferenceKind: TypeAlias = Literal["link", "image", "wiki", "spec", "refs"]

SECTION_LEVELS = 3  # headings of deeper levels do not begin a section
_NESTED = frozenset({"list_item_open", "blockquote_open", "paragraph_open", "tr_open", "fence", "code_block"})
_FRONT_FIELD = re.compile(r"^([A-Za-z_][\w-]{0,80})[ \t]{0,20}:(.*)$", re.MULTILINE)
_MAY_REFER = re.compile(r"[\[<]|specs/|refs\s{0,20}:", re.IGNORECASE)
_LONGEST_READ = 50_000  # characters of one paragraph that are looked through for references
_MOST_FRONT = 20_000  # characters of front matter
_WIKI = re.compile(r"(?<!!)\[\[([^\[\]\n|#]{1,200})(?:#[^\[\]\n|]{0,200})?(?:\|[^\[\]\n]{0,200})?\]\]")
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
    lines: Sequence[int]  # where each line starts, and last the length of the text
    headings: tuple[Heading, ...] = ()
    blocks: tuple[Block, ...] = ()  # top-level ones, in order
    inner: tuple[int, ...] = ()  # lines at which something nested begins: list items, table rows, quoted paragraphs
    references: tuple[Reference, ...] = ()
    front: dict[str, str] = field(default_factory=dict)
    notes: tuple[str, ...] = ()  # what was read plainly or left out, and from where

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
    plain = text.replace("\r\n", " \n").replace("\r", "\n") if "\r" in text else text  # every character keeps its place
    lines = _line_starts(plain)
    if not markdown:
        return Parsed(text, lines, blocks=tuple(_paragraphs(plain, lines, 0, len(plain))))
    front_end, front = front_matter(text)
    first = _line_at(lines, front_end)
    reading = _Reading(plain, lines)
    if first:
        reading.blocks.append(Block(0, first, whole=True))
    reading.read(first)
    return Parsed(
        text,
        lines,
        tuple(reading.headings),
        tuple(reading.blocks),
        tuple(sorted(reading.inner)),
        tuple(reading.references),
        front,
        tuple(reading.notes),
    )


# How much is done for one document. An ordinary line costs 10 to 40 microseconds of the parser's time, a table's cell a
# quarter of that, a bracket in running text as much as a line.
_MOST_WORK = 12_000  # lines, or as much as so many cost
_MOST_BRACKETS = 10_000  # in running text; more where the lines left something
_MOST_HEADINGS = 20_000
_MOST_REFERENCES = 10_000
_PIECE = 200  # lines after which the next safe place ends a piece
_LARGEST_PIECE = 2_000  # lines, and
_LARGEST_CHARS = 500_000  # characters of a piece that is parsed
_CELLS_A_LINE = 4  # cells of a table that cost as much as a line
_MOST_SCANNED = 50_000  # lines of a piece that are looked through for its end
_MOST_MARKS = 100_000  # headings and fences that are looked at in lines read plainly
_SCANNED_A_LINE = 8  # lines looked through for the end of a piece that cost as much as one that is parsed

_PLAIN_START = re.compile(r"[^\W\d_]")  # begins a paragraph and nothing else
_FENCE = re.compile(r" {0,3}(`{3,}|~{3,})")
_MARKER = re.compile(r" {0,3}(?:[-+*]|\d{1,9}[.)])(?:\s|\Z)")
_OPEN_HTML = (("<!--", "-->"), ("<?", "?>"), ("<![CDATA[", "]]>"))
_RAW_HTML = re.compile(r"<(script|pre|style|textarea)\b", re.IGNORECASE)
_RULE_ROW = re.compile(r"^[ \t>]{0,12}[|:-][ \t|:-]{1,20000}+$", re.MULTILINE)
_PLAIN_MARK = re.compile(r"^ {0,3}(?:(#{1,6})(?:[ \t]([^\n]*))?$|(`{3,}|~{3,}))", re.MULTILINE)
_PLAIN_LINK = re.compile(r"(!?)\[[^\[\]\n]{0,300}\]\(<?([^()\s<>]{1,500})")
_BREAK = re.compile(r"\n\s*\n")


@dataclass(frozen=True, slots=True)
class _Piece:
    start: int  # its first line
    end: int  # the line after its last
    plain: bool = False  # too large for the parser


def _pieces(text: str, lines: Sequence[int], first: int) -> Iterator[_Piece]:
    """The lines from `first` in pieces that no block reaches across."""
    tracker = _BlockTracker()
    start = first
    for number in range(first, len(lines) - 1):
        line = text[lines[number] : lines[number + 1]]
        safe = tracker.is_safe(line) and number > start
        if safe and number - start >= _PIECE:
            yield _Piece(start, number, _is_large(lines, start, number))
            start = number
        elif number - start > _MOST_SCANNED:
            break
        tracker.see(line)
    yield _Piece(start, len(lines) - 1, _is_large(lines, start, len(lines) - 1))


def _is_large(lines: Sequence[int], start: int, end: int) -> bool:
    return end - start > _LARGEST_PIECE or lines[end] - lines[start] > _LARGEST_CHARS


class _BlockTracker:
    """Goes along the lines and knows whether one of them can stand inside a block that began before it."""

    def __init__(self) -> None:
        self._blank = True
        self._html = False  # until a blank line
        self._until = ""  # what ends an open comment or script
        self._fence = ""
        self._indented = False  # the open fence stands in a list, which the next line at the margin ends
        self._list = False

    def is_safe(self, line: str) -> bool:
        if self._fence or self._until:
            return False
        if line.startswith("#"):
            return self._blank or not self._html
        return self._blank and _PLAIN_START.match(line) is not None

    def see(self, line: str) -> None:
        bare = line.strip()
        if self._until:
            if self._until in line.lower():
                self._until = ""
            return
        if self._fence and not (self._indented and bare and not line[0].isspace()):
            if bare.startswith(self._fence) and not bare.strip(self._fence[0]):
                self._fence = ""
            return
        self._fence = ""
        self._see_open(line, bare)
        self._blank = not bare

    def _see_open(self, line: str, bare: str) -> None:
        if not bare:
            self._html = False
        elif bare.startswith("<"):
            self._html = True
            self._until = next((end for sign, end in _OPEN_HTML if bare.startswith(sign) and end not in bare), "")
            raw = _RAW_HTML.match(bare)
            if raw and f"</{raw[1].lower()}>" not in bare.lower():
                self._until = f"</{raw[1].lower()}>"
        elif fence := _FENCE.match(line):
            if fence[1][0] == "~" or "`" not in line[fence.end() :]:
                self._fence = fence[1]
                self._indented = self._list and fence.start(1) > 0
        elif _MARKER.match(line):
            self._list = True
        elif self._blank and not line[0].isspace():
            self._list = False


def parsing_cost(text: str) -> int:
    """What parsing costs, in lines: a table makes as many cells of every line as its head has."""
    cells = place = 0
    while rule := _RULE_ROW.search(text, place):
        gap = _BREAK.search(text, rule.end())
        place = gap.start() if gap else len(text)
        cells += rule[0].count("|") * text.count("\n", rule.start(), place)
    return text.count("\n") + (cells + text.count("|")) // _CELLS_A_LINE


def shorten(text: str, *, most: int, chars: int) -> str:
    """The beginning of a text, whole lines, that costs at most as much to parse as `most` lines."""
    kept = text
    while len(kept) > chars or parsing_cost(kept) > most:
        half = min(chars, len(kept) // 2)
        kept = kept[: kept.rfind("\n", 0, half) + 1] or kept[:half]
    return kept


class _Reading:
    """What is gathered while the pieces go by."""

    def __init__(self, text: str, lines: Sequence[int]) -> None:
        self._text = text
        self._lines = lines
        self._skipped = 0
        self._environment: dict[str, Any] = {}
        self._work = 0
        self._held: list[tuple[str, int, bool]] = []  # text that may refer, its line, is it HTML? Read last of all
        self.headings: list[Heading] = []
        self.blocks: list[Block] = []
        self.inner: set[int] = set()
        self.references: list[Reference] = []
        self.notes: list[str] = []

    def read(self, first: int) -> None:
        """Everything from line `first` on."""
        last = len(self._lines) - 1
        for piece in _pieces(self._text, self._lines, first):
            if self._work >= _MOST_WORK:
                self._read_plainly(piece.start, last)
                self.notes.append(f"from line {piece.start + 1:,} on only headings, paragraphs and links were read")
                break
            if piece.plain or (cost := parsing_cost(self._piece_text(piece.start, piece.end))) > _LARGEST_PIECE:
                self._work += (piece.end - piece.start) // _SCANNED_A_LINE
                self._read_plainly(piece.start, piece.end)
                self.notes.append(f"lines {piece.start + 1:,} to {piece.end:,} are one block: read as plain lines")
            else:
                self._work += cost
                self._parse(piece)
        self._read_held()
        if len(self.headings) >= _MOST_HEADINGS:
            self.notes.append(f"kept the first {_MOST_HEADINGS:,} headings")
        if len(self.references) > _MOST_REFERENCES:
            self.notes.append(f"kept the first {_MOST_REFERENCES:,} references")
            del self.references[_MOST_REFERENCES:]

    def _piece_text(self, start: int, end: int) -> str:
        return self._text[self._lines[start] : self._lines[end]]

    def _parse(self, piece: _Piece) -> None:
        self._skipped = piece.start
        text = self._piece_text(piece.start, piece.end)
        before = None
        for token in block_parser().parse(text.removeprefix("\ufeff"), self._environment):
            self.take(token, before)
            before = token

    def _read_plainly(self, start: int, end: int) -> None:
        """Headings, paragraphs and links of some lines, without the parser: linear, whatever they hold."""
        text, lines = self._text, self._lines
        place, fence = lines[start], ""
        marks = _PLAIN_MARK.finditer(text, lines[start], lines[end]) if text.find("#", place, lines[end]) >= 0 else ()
        for mark in islice(marks, _MOST_MARKS):
            if len(self.headings) >= _MOST_HEADINGS:
                break
            if mark[3]:
                fence = "" if fence and mark[3].startswith(fence) else fence or mark[3]
            elif not fence and len(mark[1]) <= SECTION_LEVELS:
                line = bisect_right(lines, mark.start()) - 1
                self.blocks += _paragraphs(text, lines, place, mark.start())
                self.blocks.append(Block(line, line + 1))
                self.headings.append(Heading(line, len(mark[1]), _plain((mark[2] or "").strip().rstrip("#"))))
                place = min(lines[line + 1], lines[end])
        self.blocks += _paragraphs(text, lines, place, lines[end])
        self._read_links(text, lines[start], lines[end], start)

    def take(self, token: Any, before: Any) -> None:
        if token.map is None:
            return
        start, end = token.map[0] + self._skipped, token.map[1] + self._skipped
        if token.type == "inline":
            if before is not None and before.type == "heading_open" and before.level == 0:
                self._heading(before, token, start)
            self._hold(token.content, start)
        elif token.level == 0:
            self.blocks.append(Block(start, end, whole=token.type in ("fence", "code_block", "table_open")))
        elif token.type in _NESTED:
            self.inner.add(start)
        if token.type == "html_block":
            self._held.append((token.content, start, True))

    def _hold(self, content: str, line: int) -> None:
        if _MAY_REFER.search(content) is not None:
            self._held.append((content, line, False))

    def _read_held(self) -> None:
        """The references of what was parsed. Last of all: what a name in brackets means may be said at the very end."""
        found, self.references = self.references, []
        left = _MOST_BRACKETS + max(0, _MOST_WORK - self._work)
        for content, line, is_html in self._held:
            if len(self.references) > _MOST_REFERENCES:
                break
            left -= 0 if is_html else content.count("[") + content.count("<")
            if is_html:
                self._html(content, line)
            elif left < 0 or len(content) > _LONGEST_READ:
                self._read_links(content, 0, len(content), line)
            else:
                self._references(content, line)
        if left < 0:
            self.notes.append("many brackets: not every link in running text was looked at closely")
        self.references += found

    def _read_links(self, text: str, low: int, high: int, line: int) -> None:
        """The plain links between two places of a text whose first character is on `line`."""
        for link in islice(_PLAIN_LINK.finditer(text, low, high), _MOST_REFERENCES + 1):
            line += text.count("\n", low, link.start())
            low = link.start()
            self.references.append(Reference(link[2], "image" if link[1] else "link", line))

    def _heading(self, opening: Any, inline: Any, line: int) -> None:
        level = int(opening.tag[1])
        if level <= SECTION_LEVELS and len(self.headings) < _MOST_HEADINGS:
            self.headings.append(Heading(line, level, _plain(inline.content)))

    def _references(self, content: str, line: int) -> None:
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


_HEADING_LINK = re.compile(r"!?\[([^\[\]]{0,300})\]\([^()]{0,500}\)")
_HEADING_ANCHOR = re.compile(r"\{#[\w:.-]{1,200}\}$")
_EMPHASIS = re.compile(r"[`*]|(?<!\w)_|_(?!\w)")
_MOST_HEADING = 1_000  # characters of a heading that are read


def _plain(content: str) -> str:
    """A heading as people read it: without marks of emphasis, code and links."""
    text = _HEADING_LINK.sub(r"\1", content[:_MOST_HEADING]).rstrip()
    return " ".join(_EMPHASIS.sub("", _HEADING_ANCHOR.sub("", text)).split())


_SLICE = 1 << 18  # characters whose lines are counted at a time


def _line_starts(text: str) -> Sequence[int]:
    """Where each line of a text begins, and last its length."""
    starts = array("I", [0])
    for low in range(0, len(text), _SLICE):
        sizes = map(len, text[low : low + _SLICE].split("\n"))
        starts.extend(map(add, accumulate(sizes), count(low + 1)))
        starts.pop()  # what stands behind the last line end goes on in the next slice
    if starts[-1] != len(text) or len(starts) == 1:
        starts.append(len(text))
    return starts


def _line_at(lines: Sequence[int], place: int) -> int:
    return bisect_left(lines, place)


def _front_end(text: str) -> int:
    """Where the front matter ends; 0 when there is none."""
    start = 1 if text.startswith("\ufeff") else 0
    head = text[start : start + _MOST_FRONT].replace("\r\n", " \n").replace("\r", "\n")
    place = 0
    for number, line in enumerate(head.split("\n")):
        place += len(line) + 1
        bare = line.rstrip(" \t")
        if number == 0 and bare != "---":
            return 0
        if number and bare in ("---", "..."):
            whole = text[: start + min(place, len(head))]
            return len(whole) if _FRONT_FIELD.search(whole.replace("\r", "\n")) else 0
    return 0


def front_matter(text: str) -> tuple[int, dict[str, str]]:
    """Where the front matter ends, and its plain fields; 0 and none when there is none."""
    end = _front_end(text)
    fields = _FRONT_FIELD.findall(text[:end].replace("\r", "\n")) if end else []
    return end, {name: value.strip(" \t") for name, value in fields}


_LONG_TEXT = 500_000  # characters: of a longer one short neighbours are one block
_SHORT = 100  # characters


def _paragraphs(text: str, lines: Sequence[int], low: int, high: int) -> Iterator[Block]:
    """The paragraphs between two places, each with its lines."""
    least = _SHORT if len(text) > _LONG_TEXT else 1
    start = low
    while gap := _BREAK.search(text, min(start + least - 1, high), high):
        yield from _paragraph(text, lines, start, gap.start())
        start = gap.end()
    yield from _paragraph(text, lines, start, high)


def _paragraph(text: str, lines: Sequence[int], low: int, high: int) -> Iterator[Block]:
    solid = _SOLID.search(text, low, high)
    if solid is not None:
        end = bisect_left(lines, low + len(text[low:high].rstrip()))
        yield Block(bisect_right(lines, solid.start()) - 1, end)


_SOLID = re.compile(r"\S")
