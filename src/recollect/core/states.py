"""What a statement can say of how something stands (where somebody lives, which package manager is used), and the words
by which people ask for it. "I moved to Bergen" and "where do I live?" share none. Values only.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

_MAX_CHARS = 1_000  # of a question that are looked at
STATE_OF = "state_of"  # the attribute of a memory: whose state, and which, such as `user|home`

# Things of which one is used at a time: naming another with "now" says that the first is over.
ALTERNATIVES: Mapping[str, frozenset[str]] = {
    "JavaScript package manager": frozenset("npm yarn pnpm bun".split()),
    "Python package manager": frozenset("pip poetry uv pdm pipenv conda".split()),
    "JavaScript test runner": frozenset("jest vitest mocha jasmine".split()),
    "Python test runner": frozenset("pytest unittest nose".split()),
    "JavaScript formatter": frozenset("prettier biome dprint".split()),
    "Python formatter": frozenset("black yapf".split()),
    "JavaScript linter": frozenset("eslint oxlint tslint".split()),
    "Python linter": frozenset("flake8 pylint ruff".split()),
    "bundler": frozenset("webpack vite rollup parcel esbuild turbopack".split()),
    "editor": frozenset("vim neovim nvim emacs vscode zed sublime nano helix pycharm intellij webstorm".split()),
    "shell": frozenset("bash zsh fish nushell powershell".split()),
    "operating system": frozenset("linux macos windows ubuntu debian fedora nixos".split()),
    "database": frozenset("postgres postgresql mysql mariadb sqlite mongodb cockroachdb".split()),
    "issue tracker": frozenset("jira linear trello asana youtrack redmine".split()),
    "code host": frozenset("github gitlab bitbucket codeberg gitea".split()),
    "chat": frozenset("slack teams discord mattermost zulip".split()),
    "theme": frozenset("dark light".split()),
}
# The words that ask for a state; of the others, those of its name.
_ASKED_BY: Mapping[str, frozenset[str]] = {
    "home": frozenset("live lives living home city town address based reside resides".split()),
    "work": frozenset("work works working job employer company".split()),
    "name": frozenset("name called".split()),
    "JavaScript package manager": frozenset("package packages manager install dependencies".split()),
    "Python package manager": frozenset("package packages manager install dependencies".split()),
    "issue tracker": frozenset("issue issues ticket tickets tracker".split()),
    "operating system": frozenset("os operating".split()),
}
_PERSONAL = frozenset(
    {"home", "work", "name"}
)  # somebody's own; the others are of the work here unless somebody is named
_TEAM = frozenset("we our team us".split())


def find_states(question: str) -> list[str]:
    """The states a question may ask for, each as memories name it (`STATE_OF`)."""
    said = [word.strip("?!.,:;\"'()").removesuffix("'s") for word in question[:_MAX_CHARS].split()]
    asked = {word.casefold() for word in said}
    named = {word.casefold() for word in said[1:] if word[:1].isupper() and len(word) > 1}
    subjects = {*named, "user", *(("team",) if asked & _TEAM else ())}
    states = []
    for slot in (*_PERSONAL, *ALTERNATIVES):
        if asked & _ASKED_BY.get(slot, frozenset(slot.casefold().split())):
            states += [f"{subject}|{slot}" for subject in (subjects if slot in _PERSONAL else {*named, ""})]
    return sorted(states)


def describe_state(attributes: Mapping[str, Any]) -> str:
    """The words by which people ask for what a memory says of a state; empty when it says nothing of one."""
    found = attributes.get(STATE_OF)
    subject, bar, slot = found.partition("|") if isinstance(found, str) else ("", "", "")
    return " ".join([subject, slot, *sorted(_ASKED_BY.get(slot, ()))]).strip() if bar else ""
