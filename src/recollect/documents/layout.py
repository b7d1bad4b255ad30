"""Which files are documents, and what each is: label and type by path. Pure.

Rules are tried in order, the user's own before the preset's; the first that fits decides. Patterns are written as in a
`.gitignore`. A rule without a label says: not a document.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

from recollect.core.errors import InvalidField, UnknownChoice
from recollect.files.ignore import expression

DocumentType: TypeAlias = Literal["semantic", "procedural"]
TYPES: tuple[DocumentType, ...] = ("semantic", "procedural")
MARKDOWN = (".md", ".markdown", ".mdx")
PLAIN = (".txt",)
_MAX_LABEL = 60  # characters
_MAX_RULES = 200  # of a project
_MAX_PATTERN = 300  # characters of one rule's path


@dataclass(frozen=True, slots=True)
class Rule:
    """Files that fit `pattern` are of this label and type; without a label they are none of ours."""

    pattern: str
    label: str | None
    type: DocumentType = "semantic"


@dataclass(frozen=True, slots=True)
class Place:
    """What a path is."""

    label: str
    type: DocumentType


def _cyberk_flow(home: str) -> tuple[Rule, ...]:
    """The layout of spec-driven projects: canonical specs, archived changes, knowledge. Changes under way are no
    documents yet."""
    archive = f"{home}/changes/archive/*"
    return (
        Rule(f"{archive}/specs/**", "delta-spec"),
        Rule(f"{archive}/discovery.md", "discovery"),
        Rule(f"{archive}/proposal.md", "proposal", "procedural"),
        Rule(f"{archive}/tasks.md", "tasks", "procedural"),
        Rule(f"{archive}/workflow.md", "workflow", "procedural"),
        Rule(f"{archive}/design.md", "design"),
        Rule(f"{archive}/**", "archive"),
        Rule(f"{home}/changes/**", None),
        Rule(f"{home}/specs/**/workflow.md", "spec", "procedural"),
        Rule(f"{home}/specs/**/tasks.md", "spec", "procedural"),
        Rule(f"{home}/specs/**", "spec"),
        Rule(f"{home}/knowledge/**", "knowledge"),
    )


_DOCS = (
    Rule("docs/**/workflow.md", "doc", "procedural"),
    Rule("docs/**/tasks.md", "doc", "procedural"),
    Rule("docs/knowledge/**", "knowledge"),
    Rule("docs/**", "doc"),
)

_REPOSITORY = (
    *_cyberk_flow("cyberk-flow"),
    *_cyberk_flow("openspec"),
    Rule(".github/ISSUE_TEMPLATE/**", None),
    Rule(".github/PULL_REQUEST_TEMPLATE*", None),
    Rule("LICENSE*", None),
    Rule("licenses/**", None),
    Rule("**/adr/**", "decision"),
    Rule("**/adrs/**", "decision"),
    Rule("**/decisions/**", "decision"),
    Rule("**/rfcs/**", "proposal"),
    Rule("**/proposals/**", "proposal"),
    Rule("**/specs/**", "spec"),
    Rule("**/spec/**/*.md", "spec"),
    Rule("*.spec.md", "spec"),
    Rule("**/requirements/**/*.md", "spec"),
    Rule("**/design/**/*.md", "design"),
    Rule("DESIGN.md", "design"),
    Rule("ARCHITECTURE.md", "design"),
    Rule("**/knowledge/**", "knowledge"),
    Rule("**/runbooks/**", "workflow", "procedural"),
    Rule("**/how-to/**", "workflow", "procedural"),
    Rule("**/howto/**", "workflow", "procedural"),
    Rule("workflow.md", "workflow", "procedural"),
    Rule("CONTRIBUTING.*", "workflow", "procedural"),
    Rule("RELEASING.*", "workflow", "procedural"),
    Rule("tasks.md", "tasks", "procedural"),
    Rule("TODO.*", "tasks", "procedural"),
    Rule("ROADMAP.*", "tasks", "procedural"),
    Rule("CHANGELOG*", "archive"),
    Rule("HISTORY*", "archive"),
    Rule("CHANGES*", "archive"),
    Rule("**/archive/**", "archive"),
    *_DOCS,
    Rule("doc/**", "doc"),
    Rule("README*", "doc"),
    Rule("*.md", "doc"),
    Rule("*.markdown", "doc"),
    Rule("*.mdx", "doc"),
)

# name → its rules and the directory that bare `specs/NAME` stands for
PRESETS: Mapping[str, tuple[tuple[Rule, ...], str]] = {
    "repository": (_REPOSITORY, "specs"),
    "cyberk-flow": ((*_cyberk_flow("cyberk-flow"), *_DOCS), "cyberk-flow/specs"),
}
DEFAULT_PRESET = "repository"


@dataclass(frozen=True, slots=True)
class Layout:
    """Where documents are and what they are."""

    rules: tuple[Rule, ...]
    pattern: re.Pattern[str]  # one group for each rule, the first that fits wins
    roots: tuple[str, ...] = ()
    ignore: tuple[str, ...] = ()
    specs: str = "specs"
    detector: str = "opposition"

    def place(self, path: str) -> Place | None:
        """What the file at `path` is; nothing when it is no document."""
        if not path.lower().endswith((*MARKDOWN, *PLAIN)):
            return None
        found = self.pattern.match(path)
        if found is None or found.lastindex is None:
            return None
        rule = self.rules[found.lastindex - 1]
        return None if rule.label is None else Place(rule.label, rule.type)


def is_markdown(path: str) -> bool:
    return path.lower().endswith(MARKDOWN)


def read_layout(table: Mapping[str, Any]) -> Layout:
    """The layout that the settings' table `[documents]` describes; an error names the field that is wrong."""
    known = {"preset", "roots", "ignore", "rules", "specs", "detector"}
    for name in sorted(set(table) - known):
        raise InvalidField(f"documents.{name}", f"there is no such setting; there are {', '.join(sorted(known))}")
    preset = _text(table.get("preset", DEFAULT_PRESET), "documents.preset")
    if preset not in PRESETS:
        raise UnknownChoice("documents.preset", preset, PRESETS)
    shipped, specs = PRESETS[preset]
    own = table.get("rules", [])
    if not isinstance(own, Sequence) or isinstance(own, str):
        raise InvalidField("documents.rules", "expected a list of rules")
    if len(own) > _MAX_RULES:
        raise InvalidField("documents.rules", f"more than {_MAX_RULES} rules")
    rules = [*(_rule(given, f"documents.rules[{index}]") for index, given in enumerate(own)), *shipped]
    return Layout(
        rules=tuple(rules),
        pattern=re.compile("|".join(f"({_expression(rule.pattern)})" for rule in rules), re.DOTALL),
        roots=_texts(table.get("roots", ()), "documents.roots"),
        ignore=_texts(table.get("ignore", ()), "documents.ignore"),
        specs=_text(table.get("specs", specs), "documents.specs").strip("/"),
        detector=_text(table.get("detector", "opposition"), "documents.detector"),
    )


def _rule(given: Any, field: str) -> Rule:
    if not isinstance(given, Mapping):
        raise InvalidField(field, "a rule is a table with path, label and type")
    for name in sorted(set(given) - {"path", "label", "type"}):
        raise InvalidField(f"{field}.{name}", "a rule has no such field; it has path, label, type")
    pattern = _text(given.get("path"), f"{field}.path")
    label = _text(given.get("label", ""), f"{field}.label").strip()
    if len(label) > _MAX_LABEL:
        raise InvalidField(f"{field}.label", f"longer than {_MAX_LABEL} characters")
    kind = _text(given.get("type", "semantic"), f"{field}.type")
    if kind not in TYPES:
        raise UnknownChoice(f"{field}.type", kind, TYPES)
    if len(pattern) > _MAX_PATTERN:
        raise InvalidField(f"{field}.path", f"longer than {_MAX_PATTERN} characters")
    if _expression(pattern) is None:
        raise InvalidField(f"{field}.path", f"{pattern!r} is not a pattern")
    return Rule(pattern, label or None, "procedural" if kind == "procedural" else "semantic")


def _expression(pattern: str) -> str | None:
    return expression(f"{pattern}**" if pattern.endswith("/") else pattern)


def _texts(given: Any, field: str) -> tuple[str, ...]:
    if isinstance(given, str) or not isinstance(given, Sequence):
        raise InvalidField(field, "expected a list of texts")
    return tuple(_text(one, f"{field}[{index}]") for index, one in enumerate(given))


def _text(given: Any, field: str) -> str:
    if not isinstance(given, str):
        raise InvalidField(field, f"expected a text, not {given!r}")
    return given
