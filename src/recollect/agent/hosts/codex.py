"""Codex: the same plugin, put where Codex keeps installed ones and switched on in its settings; for a project, hooks
and server in the project's own settings. Codex runs no hook that a person has not approved, and we never approve our
own."""

from __future__ import annotations

from pathlib import Path

from recollect.agent.hosts.hooks import groups
from recollect.agent.hosts.place import Place
from recollect.agent.hosts.plugin import CODEX_EVENTS, IDENTITY, MARKETPLACE, PLUGIN, codex_hook, contents, marketplace
from recollect.agent.hosts.plugin import rendered as rendered_plugin
from recollect.agent.hosts.plugin import text as as_text
from recollect.agent.hosts.wishes import Members, Tables, Whole, Wish

_NOTE = "# Recollect: made by `recollect install codex`, removed by `recollect uninstall codex`."


def home(place: Place) -> Path:
    return place.folder("CODEX_HOME", ".codex")


def wishes(place: Place) -> list[Wish]:
    return _project(place) if place.scope == "project" else _user(place)


def hints(place: Place) -> list[str]:
    project = ["Codex reads a project's own settings only after you have trusted the project."]
    return [
        *(project if place.scope == "project" else []),
        "Codex skips hooks nobody has approved, without a word: open `codex`, type /hooks, look at those of "
        "recollect and trust them. After an update of Recollect that may be asked again; `recollect doctor` tells.",
    ]


def _user(place: Place) -> list[Wish]:
    root = home(place)
    tables = (
        f'[marketplaces.{MARKETPLACE}]\nsource_type = "local"\nsource = {_quoted(str(marketplace(place)))}\n\n'
        f'[plugins."{IDENTITY}"]\nenabled = true\n'
    )
    families = (("marketplaces", MARKETPLACE), ("plugins", IDENTITY), ("hooks", "state", f"{IDENTITY}:*"))
    cache = root / "plugins" / "cache" / MARKETPLACE / PLUGIN / place.version
    installed = [Whole(cache / name, as_text(content)) for name, content in contents(place)]
    return [*rendered_plugin(place), *installed, Tables(root / "config.toml", tables, families, _NOTE)]


def _project(place: Place) -> list[Wish]:
    folder = place.project / ".codex"
    server = f'[mcp_servers.recollect]\ncommand = {_quoted(place.recollect)}\nargs = ["mcp"]\n'
    hooks = groups(CODEX_EVENTS, codex_hook(place))
    items = tuple(((("hooks", event)), group[0]) for event, group in hooks.items())
    return [
        Members(folder / "hooks.json", items=items),
        Tables(folder / "config.toml", server, (("mcp_servers", "recollect"),), _NOTE),
    ]


def _quoted(text: str) -> str:
    """A TOML string. JSON's escapes are TOML's too, but for the delete character."""
    return as_text(text).strip().replace("\x7f", "\\u007f")
