"""What strangers may add, by entry point: methodology plugins now, more ports as they open."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

from recollect.agent.methodology import Methodology
from recollect.agent.methodology.bmad import bmad
from recollect.agent.methodology.native import native
from recollect.agent.methodology.tdd import tdd
from recollect.core.errors import UnknownChoice

Plugin = TypeVar("Plugin")

_SHIPPED: dict[str, Callable[[], Methodology]] = {"native": native, "bmad": bmad, "tdd": tdd}


def methodology(name: str) -> Methodology:
    """The methodology of that name: a shipped one, or one that an installed package registers."""
    if name in _SHIPPED:
        return _SHIPPED[name]()
    from importlib.metadata import entry_points  # scanning installed packages is slow; only strangers need it

    found = {entry.name: entry for entry in entry_points(group="recollect.methodologies")}
    if name not in found:
        raise UnknownChoice("methodology", name, {*_SHIPPED, *found})
    plugin: Methodology = found[name].load()()
    return plugin
