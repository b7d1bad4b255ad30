"""The words that tell how people work from what their product does.

A rule speaks of tests, commits, tools and folders; a wish for the product speaks of buttons, users and requests. These
lists are general: they name no project and were not fitted to one.
"""

from __future__ import annotations


def by_first_letter(alternatives: str) -> str:
    """The same alternatives, so grouped that one letter of a text rules most of them out at once: `re` tries each in
    turn when case does not matter. Alternatives of one letter keep their order; one that starts with a group stays
    whole."""
    groups: dict[str, list[str]] = {}
    for alternative in _top_level(alternatives):
        letter = alternative[0] if alternative[0].isalpha() and alternative[1:2] not in "?" else ""
        groups.setdefault(letter, []).append(alternative[len(letter) :])
    whole = groups.pop("", [])
    return "|".join([*whole, *(f"{letter}(?:{'|'.join(rests)})" for letter, rests in groups.items())])


def _top_level(alternatives: str) -> list[str]:
    """What stands between the bars that are inside no group."""
    parts, depth = [""], 0
    for sign in alternatives:
        depth += (sign == "(") - (sign == ")")
        if sign == "|" and not depth:
            parts.append("")
        else:
            parts[-1] += sign
    return parts


# What development is made of, mostly in the plural: one test is a task, tests are a habit.
_PRACTICE = (
    r"tests?|unit tests?|integration tests?|e2e tests?|test suite|suites?|specs|mocks?|fixtures?|snapshots?|commits"
    r"|commit messages?"
    r"|prs|pull requests|branches|feature branches|release branches|trunk|change ?logs?|lint(?:er|ing)?|formatter"
    r"|type ?hints?|types|doc ?strings?|comments|imports|exports|functions?|methods|classes|modules"
    r"|variables?|variable names?|naming|abbreviations?|dependenc(?:y|ies)|packages?|lock ?files?"
    r"|migrations?|schemas?|ci|makefile|scripts"
    r"|docs|documentation|readmes?|secrets?|credentials|api keys?|code ?base|generated|vendor(?:ed)?|legacy|markdown"
    r"|new files|existing files|generated files|test files|emojis?|todos|logging|logger|error messages|exceptions"
    r"|style ?guide|english|sub-?agents?|worktrees?|backwards?.compat\w{0,8}|releases|versions|deploy(?:s|ments)?"
    r"|production|staging|database|public api|raw sql|timestamps|ids|tabs|indent\w{0,6}|inline styles|hooks|plugins?"
    r"|libraries|tooling|warnings|folders?|director(?:y|ies)|dirs?"
)
_TOOLS = (
    r"npm|npx|pnpm|yarn|bun|deno|node|pip|pipx|uv|poetry|conda|cargo|rustup|golang|cmake|bazel|gradlew?|maven|mvn"
    r"|docker|podman|kubectl|helm|terraform|ansible|git|gh|jest|vitest|mocha|pytest|tox|nox|eslint|prettier|biome"
    r"|ruff|flake8|mypy|pyright|tsc|webpack|vite|rollup|esbuild|sed|awk|grep|ripgrep|rg|bash|zsh|powershell"
    r"|python ?[23]?(?:\.\d+)?|ruby|rake|bundler|rspec|php|phpunit|java|kotlin|xcode|dotnet|nuget|postgres(?:ql)?"
    r"|mysql|sqlite|redis|mongo(?:db)?|graphql|react|vue|svelte|angular|tailwind|django|flask|rails|laravel|lodash"
    r"|jquery|sphinx|mkdocs|storybook|playwright|cypress|selenium|homebrew|brew|apt|nix|mise|asdf|nvm|typescript"
    r"|javascript|orm|curl|ssh|sudo|tmux|wsl|windows|linux|macos"
)
_PATH = (
    r"`[^`]{2,40}`|(?<![\w/])\.{0,2}/?[\w.-]{2,30}/(?:[\w./-]{0,40})"
    r"|\b[\w-]{2,30}\.(?:md|mdx|go|tsx?|jsx?|py|rb|rs|java|kt|cs|json|ya?ml|toml|ini|cfg|sh|sql|proto|lock|env|css)\b"
)
PRACTICE = rf"(?:{by_first_letter(_PRACTICE)})"
TOOL = rf"(?:{by_first_letter(_TOOLS)})"
THING = rf"(?:\b{PRACTICE}\b|\b{TOOL}\b|{_PATH})"
PRODUCT = (
    r"(?:users?|customers?|buttons?|modals?|dialogs?|forms?|pages?|screens?|spinner|side ?bar|banner|footer"
    r"|menu|rows?|cards?|price|mobile|safari|chrome|redirect|webhook|requests?|responses?|tokens?|list|results?"
    r"|column|dark mode|newest|oldest|shows?|null|\d+ ?px)"
)
