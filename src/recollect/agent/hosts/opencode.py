"""opencode: a plugin of a few lines of JavaScript that starts our hook, and the server in its settings."""

from __future__ import annotations

import json
from importlib.resources import files
from pathlib import Path

from recollect.agent.hosts.hooks import SECONDS
from recollect.agent.hosts.place import Place
from recollect.agent.hosts.wishes import Members, Whole, Wish

_NAMES = ("opencode.jsonc", "opencode.json", "config.json")
_SCHEMA = "https://opencode.ai/config.json"  # opencode adds it to a file without
_PATIENCE = 10_000  # ms the host may wait for our server's tools; its own default is half of that


def wishes(place: Place) -> list[Wish]:
    settings, plugins = _settings(place), _folder(place) / "plugins" / "recollect.js"
    server = {"type": "local", "command": [place.recollect, "mcp"], "enabled": True, "timeout": _PATIENCE}
    return [
        Members(settings, members=((("mcp", "recollect"), server),), needs=(("$schema", _SCHEMA),)),
        Whole(plugins, _script(place)),
    ]


def hints(place: Place) -> list[str]:
    return ["opencode loads plugins when it starts: start it anew."]


def _folder(place: Place) -> Path:
    if place.scope == "project":
        return place.project / ".opencode"
    named = place.environment.get("OPENCODE_CONFIG_DIR")
    return Path(named) if named else place.folder("XDG_CONFIG_HOME", ".config") / "opencode"


def _settings(place: Place) -> Path:
    """The settings file that is there, else a new one; in a project it lies in the root."""
    folder = place.project if place.scope == "project" else _folder(place)
    names = _NAMES[:2] if place.scope == "project" else _NAMES
    return next((folder / name for name in names if (folder / name).is_file()), folder / "opencode.json")


def _script(place: Place) -> str:
    template = files("recollect.agent.hosts").joinpath("opencode.js").read_text(encoding="utf-8")
    return template.replace('"@HOOK@"', json.dumps(place.hook)).replace('"@MILLISECONDS@"', str(SECONDS * 1000))
