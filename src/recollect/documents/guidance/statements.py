"""A rules file as statements: one for each bullet, paragraph, table row or command, under its headings, and its kind.

A sentence that only introduces a list is its context; a numbered list that tells how something is done stays together.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from recollect.core.kinds import Kind
from recollect.core.lazy import Lazy
from recollect.core.text import clean, excerpt
from recollect.documents.parse import block_parser

MAX_STATEMENTS = 2_000  # statements of one file; what has more is no rules file
MAX_CHARS = 4_000  # characters of one statement
_INTRO = 160  # characters of an introduction that is kept as context
_BARE = 3  # words: a shorter statement says nothing without its heading
_TITLE = 4  # words: a bullet of no more, with others below it, is their title
_BETWEEN = " › "
_SHELLS = frozenset({"", "bash", "sh", "shell", "zsh", "console", "shell-session", "powershell", "fish", "text"})
_COMMENT = re.compile(r"<!--.*?(?:-->|\Z)", re.DOTALL)
_TAG = re.compile(r"</?[a-zA-Z][\w:-]{0,60}(?:\s[^<>]{0,300})?/?>")
_LINK = re.compile(r"!?\[([^\[\]]{0,300})\]\(([^()\s]{0,500})(?:\s\"[^\"]{0,200}\")?\)")
_BOLD = re.compile(r"(\*\*|__)(?=\S)(.{1,300}?)(?<=\S)\1")
_CODE = re.compile(r"(`[^`]*`+)")
_HELD = re.compile("\x00[0-9]+\x00")  # where code stood while its surroundings are read
_ANCHOR = re.compile(r"[^()]{0,200}\(#[^()]{0,200}\)\s*")  # a line of a table of contents
_TREE = re.compile(r"[├└│]")
_PROCEDURE = re.compile(
    r"\b(?:how to|steps?|workflow|process|procedure|checklist|adding|creating|releas(?:e|ing)|deploy(?:ing|ment)?"
    r"|to (?:add|create|make|release|update|run|fix|write|implement)|before (?:you|submitting|committing|opening)"
    r"|when (?:you|adding)|getting started|setup|set up)\b",
    re.IGNORECASE,
)
_IMPORT = re.compile(r"(?<![\w`@/.])@((?:~/|\.{0,2}/)?[\w.-]+(?:/[\w.-]+)*)")
_LABEL = re.compile(r"(`[^`\n]{1,40}`|[A-Za-z][\w /()-]{0,30}):\s")
_LABELLED = re.compile(r"^(?:\*\*|__|[A-Z][\w /-]{1,40}:\s)")


@dataclass(frozen=True, slots=True)
class Statement:
    """Something a rules file says: in its own words, under which headings, on which lines (from 1)."""

    text: str
    headings: tuple[str, ...]
    first: int
    last: int
    intro: str = ""
    steps: tuple[str, ...] = ()  # when it tells how something is done

    @property
    def context(self) -> tuple[str, ...]:
        return (*self.headings, self.intro) if self.intro else self.headings


@dataclass(slots=True)
class Sheet:
    """A file taken apart."""

    statements: list[Statement] = field(default_factory=list)
    imports: list[tuple[str, int]] = field(default_factory=list)  # what it wants read too, and on which line
    left_out: int = 0  # statements past the most


def split_statements(text: str, *, skipped: int = 0) -> Sheet:
    """The statements of a text; `skipped` lines of it were cut off before."""
    from markdown_it.tree import SyntaxTreeNode

    sheet = Sheet()
    _Reading(sheet, skipped).blocks(SyntaxTreeNode(block_parser().parse(text)).children, ())
    sheet.statements = _label_statements(sheet.statements)
    sheet.left_out = max(0, len(sheet.statements) - MAX_STATEMENTS)
    del sheet.statements[MAX_STATEMENTS:]
    return sheet


def _label_statements(statements: list[Statement]) -> list[Statement]:
    """The statements, with their heading before those whose label comes again under other headings: "Usage: …" says
    nothing by itself."""
    places: dict[str, set[tuple[str, ...]]] = {}
    for statement in statements:
        if label := _LABEL.match(statement.text):
            places.setdefault(label[1], set()).add(statement.context)
    return [_under_its_heading(statement) if _is_common(statement, places) else statement for statement in statements]


def _is_common(statement: Statement, places: dict[str, set[tuple[str, ...]]]) -> bool:
    label = _LABEL.match(statement.text)
    return label is not None and not statement.steps and len(places[label[1]]) > 1


def _under_its_heading(statement: Statement) -> Statement:
    nearest = statement.intro.rpartition(_BETWEEN)[2] or (statement.headings[-1] if statement.headings else "")
    if not nearest or statement.text.startswith(nearest):
        return statement
    return replace(statement, text=_cut(f"{nearest}: {statement.text}"))


class _Reading:
    """Walks the blocks with the headings above them at hand."""

    def __init__(self, sheet: Sheet, skipped: int) -> None:
        self._sheet = sheet
        self._skipped = skipped
        self._headings: list[tuple[int, str]] = []

    def blocks(self, nodes: Sequence[Any], above: tuple[str, ...]) -> None:
        """Some blocks in a row. A paragraph that ends in a colon introduces what follows it."""
        intro, open_ = "", False  # `open_`: code that follows belongs to the statement just made
        for place, node in enumerate(nodes):
            follows = nodes[place + 1].type if place + 1 < len(nodes) else ""
            if node.type == "heading":
                self._heading(node)
                intro, open_ = "", False
            elif node.type == "paragraph":
                intro = self._paragraph(node, above, follows)
                open_ = not intro
            elif node.type in ("bullet_list", "ordered_list"):
                self._list(node, above, intro)
                intro, open_ = "", False
            elif node.type in ("fence", "code_block"):
                self._code(node, above, intro, joins=open_)
                intro = ""
            elif node.type == "table":
                self._table(node, above, intro)
                intro, open_ = "", False
            elif node.type == "blockquote":
                self.blocks(node.children, above)
                intro, open_ = "", False
            elif node.type == "html_block":
                self._html(node, above)

    # --- headings and paragraphs ------------------------------------------------------------------------------------

    def _heading(self, node: Any) -> None:
        level = int(node.tag[1])
        self._headings = [heading for heading in self._headings if heading[0] < level]
        if text := plain(_content(node)):
            self._headings.append((level, excerpt(text, _INTRO)))

    def _paragraph(self, node: Any, above: tuple[str, ...], follows: str) -> str:
        """Says it, unless it introduces what follows: then that introduction."""
        raw = self._without_imports(_content(node), self._line(node))
        text = plain(raw)
        if not text:
            return ""
        if text.endswith(":") and follows in ("bullet_list", "ordered_list", "fence", "code_block", "table"):
            return excerpt(text.rstrip(": "), _INTRO)
        lines = [line for line in raw.split("\n") if line.strip()]
        if len(lines) > 1 and all(_LABELLED.match(line.strip()) for line in lines):
            for offset, line in enumerate(lines):
                self._say(plain(line), above, self._line(node) + offset, self._line(node) + offset)
        else:
            self._say(text, above, self._line(node), self._end(node))
        return ""

    # --- lists ------------------------------------------------------------------------------------------------------

    def _list(self, node: Any, above: tuple[str, ...], intro: str) -> None:
        inner = (*above, intro) if intro else above
        if node.type == "ordered_list" and (steps := self._steps(node, intro)):
            title = intro or (self._headings[-1][1] if self._headings else "Steps")
            numbered = "\n".join(f"{number}. {step}" for number, step in enumerate(steps, start=1))
            self._say(f"{title}:\n{numbered}", above, self._line(node), self._end(node), steps=steps)
            return
        for item in node.children:
            self._item(item, inner)

    def _steps(self, node: Any, intro: str) -> tuple[str, ...]:
        """The steps of a procedure; none when the list only enumerates."""
        nearest = intro or (self._headings[-1][1] if self._headings else "")
        if len(node.children) < 2 or not _PROCEDURE.search(nearest):
            return ()
        return tuple(step for item in node.children if (step := excerpt(" ".join(_texts(item)), 500)))

    def _item(self, item: Any, above: tuple[str, ...]) -> None:
        """A bullet: its own words, then what is nested in it, with those words as context."""
        own = [node for node in item.children if node.type == "paragraph"]
        rest = [node for node in item.children if node.type != "paragraph"]
        raw = self._without_imports("\n".join(_content(node) for node in own), self._line(item))
        text = plain(raw)
        code = [node for node in rest if node.type in ("fence", "code_block")]
        nested = [node for node in rest if node not in code]
        if text and (code or not (nested and _is_title(text))):
            block = "".join(f"\n{node.content.rstrip()}" for node in code)
            self._say(text + block, above, self._line(item), self._end(own[-1] if own and not code else item))
        elif code and not text:
            for node in code:
                self._code(node, above, "", joins=False)
        if nested:
            self.blocks(nested, (*above, excerpt(text.rstrip(": "), _INTRO)) if text else above)

    # --- code, tables, markup ---------------------------------------------------------------------------------------

    def _code(self, node: Any, above: tuple[str, ...], intro: str, *, joins: bool) -> None:
        """Commands with comments are a statement each; any other code belongs to the words before it."""
        code = node.content.rstrip()
        if not code.strip():
            return
        inner = (*above, intro) if intro else above
        language = (node.info or "").split()[0].lower() if (node.info or "").split() else ""
        if language in _SHELLS and (commands := _commands(code)):
            for offset, told in commands:
                line = self._line(node) + 1 + offset
                self._say(told, inner, line, line)
        elif intro:
            self._say(f"{intro}:\n{code}", above, self._line(node), self._end(node))
        elif joins and self._sheet.statements:
            last = self._sheet.statements[-1]
            self._sheet.statements[-1] = replace(last, text=_cut(f"{last.text}\n{code}"), last=self._end(node))
        else:
            nearest = self._headings[-1][1] if self._headings else ""
            self._say(f"{nearest}:\n{code}" if nearest else code, above, self._line(node), self._end(node))

    def _table(self, node: Any, above: tuple[str, ...], intro: str) -> None:
        rows = [row for part in node.children for row in part.children]
        heads = [plain(_content(cell)) for cell in rows[0].children] if rows else []
        for row in rows[1:]:
            cells = [plain(_content(cell)) for cell in row.children]
            told = [f"{head}: {cell}" if head else cell for head, cell in zip(heads, cells, strict=False) if cell]
            line = self._line(row)
            self._say("; ".join(told), (*above, intro) if intro else above, line, line)

    def _html(self, node: Any, above: tuple[str, ...]) -> None:
        """Tags around rules are no rules: what stands between them is read, comments are not."""
        inner = _TAG.sub("", _COMMENT.sub(lambda gone: "\n" * gone.group().count("\n"), node.content))
        if not inner.strip():
            return
        from markdown_it.tree import SyntaxTreeNode

        there = _Reading(self._sheet, self._line(node) - 1)
        there._headings = self._headings
        found = SyntaxTreeNode(block_parser().parse("\n".join(line.strip() for line in inner.split("\n")))).children
        there.blocks([one for one in found if one.type != "html_block"], above)

    # --- inside -----------------------------------------------------------------------------------------------------

    def _say(self, text: str, above: tuple[str, ...], first: int, last: int, *, steps: tuple[str, ...] = ()) -> None:
        words = _cut(clean(text)[0])
        if not any(letter.isalnum() for letter in words) or _ANCHOR.fullmatch(words):
            return
        headings = tuple(name for _, name in self._headings)
        intro = _BETWEEN.join(above)
        nearest = above[-1] if above else headings[-1] if headings else ""
        if nearest and not steps and len(words.split()) < _BARE and not words.startswith(nearest):
            words = f"{nearest}: {words}"
        self._sheet.statements.append(Statement(words, headings, first, max(first, last), intro, steps))

    def _without_imports(self, raw: str, line: int) -> str:
        """The words without `@path` imports that stand alone on a line; every import is noted."""
        kept = []
        for offset, one in enumerate(raw.split("\n")):
            outside = _CODE.sub("", one)
            names = [found.group(1).rstrip(".") for found in _IMPORT.finditer(outside)]
            self._sheet.imports += [(name, line + offset) for name in names]
            if not names or _IMPORT.sub("", one).strip(" -*.:,"):
                kept.append(one)
        return "\n".join(kept)

    def _line(self, node: Any) -> int:
        return (node.map[0] if node.map else 0) + self._skipped + 1

    def _end(self, node: Any) -> int:
        return (node.map[1] if node.map else 1) + self._skipped


def _content(node: Any) -> str:
    return "\n".join(child.content for child in node.children if child.type == "inline")


def _texts(item: Any) -> Iterator[str]:
    """All the words in a list item, code in its place."""
    for node in item.walk():
        if node.type in ("inline", "fence", "code_block") and node.content.strip():
            yield (
                plain(node.content)
                if node.type == "inline"
                else f"`{' ; '.join(node.content.split(chr(10))).strip(' ;')}`"
            )


def plain(raw: str) -> str:
    """Words as people read them: without emphasis, with the address of a link after its text, code as it stands."""
    parts = _CODE.split(_COMMENT.sub("", raw))
    marks = {f"\x00{place}\x00": part for place, part in enumerate(parts) if place % 2}
    text = "".join(f"\x00{place}\x00" if place % 2 else part for place, part in enumerate(parts))
    text = _LINK.sub(lambda link: link[1] if link[1] == link[2] or not link[2] else f"{link[1]} ({link[2]})", text)
    text = _HELD.sub(lambda mark: marks.get(mark.group(), ""), _BOLD.sub(r"\2", text))
    return " ".join(line.strip() for line in text.split("\n")).strip()


def _commands(code: str) -> list[tuple[int, str]]:
    """The commands of a block with what the comments beside or above them say; none when few have any."""
    if "\\\n" in code or "<<" in code or _TREE.search(code):
        return []
    found: list[tuple[int, str]] = []
    said, told, bare = "", 0, 0
    for offset, line in enumerate(code.split("\n")):
        stripped = line.strip().removeprefix("$ ")
        if not stripped:
            said = ""
        elif stripped.startswith("#"):
            said = stripped.lstrip("# ").rstrip(":. ")
        else:
            command, _, beside = stripped.partition(" # ")
            words = beside.strip() or said
            told, bare = told + bool(words), bare + (not words)
            found.append((offset, f"{words}: `{command.strip()}`" if words else f"`{command.strip()}`"))
    return found if told > bare else []


def _is_title(text: str) -> bool:
    """Does a bullet with others below it only name them?"""
    return text.endswith(":") or (len(text.split()) <= _TITLE and text[-1] not in ".!?")


def _cut(text: str) -> str:
    return text if len(text) <= MAX_CHARS else text[: MAX_CHARS - 2].rstrip() + " …"


# --- what kind of memory a statement is -----------------------------------------------------------------------------

# The types of Claude Code's own notes: who the user is and how they want things done, what goes on, where things are.
TYPES: Mapping[str, Kind] = {
    "user": Kind.PREFERENCE,
    "feedback": Kind.PREFERENCE,
    "project": Kind.DECISION,
    "reference": Kind.FACT,
}
_COMMAND = (
    r"(?:npm|npx|pnpm|yarn|bun|make|just|uv|uvx|poetry|pip|python3?|pytest|tox|nox|cargo|go|mvn|gradle|\./gradlew|dotnet"
    r"|docker(?:-compose)?|kubectl|terraform|git|gh|bundle|rake|rails|mix|composer|php|deno|nx|turbo|bazel|cmake|ruff|mypy)"
)
_BY_WORDS: tuple[tuple[Kind, Lazy], ...] = (
    (
        Kind.GOTCHA,
        Lazy(
            r"\b(?:gotchas?|pitfalls?|caveats?|beware|careful|watch out|footguns?|be aware|known (?:issue|bug)s?|flaky"
            r"|work-?arounds?|(?:will|would|can|may|might) (?:fail|break|hang|crash|silently|cause|deadlock)"
            r"|(?:fails?|breaks|hangs|crashes) (?:if|when|unless|with|because|on)|does(?: not|n't) work"
            r"|not thread.?safe|silently|race condition|unexpected(?:ly)?|surprising(?:ly)?|easy to miss"
            r"|common mistake|trap)\b|⚠"
        ),
    ),
    (
        Kind.DECISION,
        Lazy(
            r"\b(?:we|team|was|were) (?:have )?(?:decided|chosen|chose|picked|agreed|switched|moved|migrated|dropped)\b"
            r"|^decision\b|\bby design\b|\bon purpose\b|\bdeliberately\b|\brationale\b"
            r"|\bintentionally (?:not|uses?|left)\b"
        ),
    ),
    (
        Kind.PREFERENCE,
        Lazy(
            r"\b(?:prefer(?:s|red|ence)?|favou?r|(?<!to )avoid|instead of|rather than|whenever possible|where possible"
            r"|if possible|dislikes?|opt for|default to|no need to)\b"
            r"|\buse [\w`./-]+(?: [\w`./-]+){0,2},? (?:over|not) "
        ),
    ),
    (
        Kind.REQUIREMENT,
        Lazy(
            r"\b(?:must(?:n't)?|never|always|do not|don't|required?|mandatory|shall|forbidden|prohibited"
            r"|not allowed|only (?:use|if|when|in|with|for)|ensure|make sure"
            r"|critical|important|need(?:s|ed)? to|has to|have to|cannot|can't|no exceptions?|strictly"
            r"|should(?:n't)?)\b"
        ),
    ),
)
_RUNS = Lazy(rf"^(?:[\w ,'/()-]{{1,80}}:\s)?`{_COMMAND}\b|\b(?:run|execute|with) `{_COMMAND}\b|^(?:run|execute)\b")
_BY_HEADING: tuple[tuple[Kind, Lazy], ...] = (
    (
        Kind.GOTCHA,
        Lazy(
            r"\b(?:gotcha|pitfall|caveat|known issue|warning|troubleshoot|common (?:mistake|error)|failure"
            r"|anti-?pattern)"
        ),
    ),
    (Kind.DECISION, Lazy(r"\b(?:decision|rationale|why\b|adr\b|design choice|non-goals?)")),
    (
        Kind.REQUIREMENT,
        Lazy(r"\b(?:requirement|constraint|polic(?:y|ies)|security|guardrail|mandatory|never|must)"),
    ),
    (Kind.PREFERENCE, Lazy(r"\b(?:preference|tone|communication|voice|writing style|about (?:me|the user))")),
    (
        Kind.MODULE_INSIGHT,
        Lazy(
            r"\b(?:architecture|structure|overview|layout|modules?|director(?:y|ies)|codebase|components?|packages?"
            r"|key (?:files|types|concepts|entry)|entry points?|how it works|data flow|tech(?:nology)? stack|purpose)\b"
        ),
    ),
    (
        Kind.WORKFLOW_RECIPE,
        Lazy(
            r"\b(?:commands?|build|setup|set up|install|running|workflow|release|deploy|checklist|development"
            r"|getting started|pull requests?|commits?|how to)\b"
        ),
    ),
    (
        Kind.PATTERN,
        Lazy(
            r"\b(?:patterns?|best practices?|conventions?|style|guidelines?|naming|formatting|testing|tests|idioms?"
            r"|rules?)\b"
        ),
    ),
)
_SENTENCE = re.compile(r"(?<=[\w`)\]])[.!?](?=\s+[A-Z`*])")
_PATH = re.compile(r"^`?[\w.@-]*(?:/[\w.@*-]+)+/?`?|^`?[\w.@-]+/`?(?:\s|$)|^`[\w-]+\.\w{1,5}`|[├└]")
_IMPERATIVE = Lazy(
    r"^(?:use|keep|add|write|follow|make|put|create|update|check|include|import|place|return|wrap|mark|set"
    r"|call|handle|validate|treat|leave|define|store|group|split|separate|extract|raise|throw|catch|implement"
    r"|read|start|stick|limit|apply|inherit|annotate|register|expose|pass|move|remove|delete|reuse|verify|review)\b"
)


def classify(statement: Statement, *, declared: str = "", module: bool = False) -> Kind:
    """The kind of a statement, by its words first, then by its heading; `declared` is the type its file gives itself,
    `module`: it speaks of a part only.

    Gotchas warn, decisions say what was chosen, preferences choose between ways, requirements bind, recipes are
    commands and procedures, insights describe the project; what else tells how things are done is a pattern, and the
    rest a fact.
    """
    if declared in TYPES:
        return TYPES[declared]
    if statement.steps:
        return Kind.WORKFLOW_RECIPE
    if kind := _by_words(_opening(statement.text)):
        return kind
    if _PATH.search(statement.text):
        return Kind.MODULE_INSIGHT
    if _RUNS.search(statement.text):
        return Kind.WORKFLOW_RECIPE
    for name in reversed(statement.context):  # the nearest heading says most
        kind = next((kind for kind, words in _BY_HEADING if words.search(name)), None)
        if kind is Kind.WORKFLOW_RECIPE and not _tells_what_to_do(statement.text):
            continue
        if kind is not None:
            return kind
    if _IMPERATIVE.search(statement.text):
        return Kind.PATTERN
    return Kind.MODULE_INSIGHT if module else Kind.FACT


def _opening(text: str) -> str:
    """What a statement opens with: its label and first sentence. What follows explains."""
    line = text.split("\n", 1)[0]
    ends = _SENTENCE.search(line)
    return line if ends is None else line[: ends.start() + 1]


def _tells_what_to_do(text: str) -> bool:
    """A description under *Commands* is no recipe: one names a command, or says what to do."""
    return "`" in text or _IMPERATIVE.search(text) is not None


def _by_words(text: str) -> Kind | None:
    return next((kind for kind, words in _BY_WORDS if words.search(text)), None)
