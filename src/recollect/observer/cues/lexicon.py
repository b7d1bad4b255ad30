"""The words that tell how people work from what their product does.

A rule speaks of tests, commits, tools and folders; a wish for the product speaks of buttons, users and requests. These
lists are general: they name no project and were not fitted to one.
"""

from __future__ import annotations

# What development is made of, mostly in the plural: one test is a task, tests are a habit.
_PRACTICE = (
    r"(?:unit |integration |e2e )?tests?|test suite|suites?|specs|mocks?|fixtures?|snapshots?|commits"
    r"|commit messages?"
    r"|prs|pull requests|(?:feature |release )?branches|trunk|change ?logs?|lint(?:er|ing)?|formatter|type ?hints?"
    r"|types|doc ?strings?|comments|imports|exports|functions?|methods|classes|modules|variables?|variable names?"
    r"|naming|abbreviations?|dependenc(?:y|ies)|packages?|lock ?files?|migrations?|schemas?|ci|makefile|scripts|docs"
    r"|documentation|readmes?|secrets?|credentials|api keys?|code ?base|generated|vendor(?:ed)?|legacy|markdown"
    r"|(?:new|existing|generated|test) files|emojis?|todos|logging|logger|error messages|exceptions|style ?guide"
    r"|english|sub-?agents?|worktrees?|backwards?.compat\w{0,8}|releases|versions|deploy(?:s|ments)?|production"
    r"|staging|database|public api|raw sql|timestamps|ids|tabs|indent\w{0,6}|inline styles|hooks|plugins?|libraries"
    r"|tooling|warnings|folders?|director(?:y|ies)|dirs?"
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
PRACTICE = rf"(?:{_PRACTICE})"
TOOL = rf"(?:{_TOOLS})"
THING = rf"(?:\b{PRACTICE}\b|\b{TOOL}\b|{_PATH})"
PRODUCT = (
    r"(?:users?|customers?|buttons?|modals?|dialogs?|forms?|pages?|screens?|spinner|side ?bar|banner|footer"
    r"|menu|rows?|cards?|price|mobile|safari|chrome|redirect|webhook|requests?|responses?|tokens?|list|results?"
    r"|column|dark mode|newest|oldest|shows?|null|\d+ ?px)"
)
