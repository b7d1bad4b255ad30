"""What kind of memory a statement of a rules file is, by its words first, then by its heading. Pure, and plain to read.

Gotchas warn, decisions say what was chosen, preferences choose between ways, requirements bind, recipes are commands
and procedures, insights describe the project; what else tells how things are done is a pattern, and the rest a fact.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

from recollect.core.kinds import Kind
from recollect.core.lazy import Lazy
from recollect.documents.guidance.statements import Statement

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


def kind_of(statement: Statement, *, declared: str = "", module: bool = False) -> Kind:
    """The kind of a statement; `declared` is the type its file gives itself, `module`: it speaks of a part only."""
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
