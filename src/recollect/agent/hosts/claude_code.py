"""Claude Code: the plugin, named in its settings. For a project in the settings that are not shared with others."""

from __future__ import annotations

from pathlib import Path

from recollect.agent.hosts.place import Place
from recollect.agent.hosts.plugin import IDENTITY, MARKETPLACE, marketplace, rendered
from recollect.agent.hosts.wishes import Members, Trace, Wish


def wishes(place: Place) -> list[Wish]:
    source = {"source": {"source": "directory", "path": str(marketplace(place))}}
    settings = Members(
        _settings(place),
        members=((("extraKnownMarketplaces", MARKETPLACE), source), (("enabledPlugins", IDENTITY), True)),
    )
    known = place.folder("CLAUDE_CONFIG_DIR", ".claude") / "plugins" / "known_marketplaces.json"
    return [*rendered(place), settings, Trace(known, (MARKETPLACE,))]


def hints(place: Place) -> list[str]:
    project = [
        "Claude Code loads a project's own plugins only after you have trusted the folder; it asks when started there."
    ]
    told = ["Sessions that are open already have to be started anew. `/hooks` and `/mcp` in Claude Code show us."]
    return [*project, *told] if place.scope == "project" else told


def _settings(place: Place) -> Path:
    if place.scope == "project":
        return place.project / ".claude" / "settings.local.json"
    return place.folder("CLAUDE_CONFIG_DIR", ".claude") / "settings.json"
