"""What strangers may add, by entry point: methodologies and memory providers now, more ports as they open."""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from typing import TYPE_CHECKING, TypeVar

from recollect.agent.methodology import Methodology
from recollect.agent.methodology.bmad import bmad
from recollect.agent.methodology.native import native
from recollect.agent.methodology.tdd import tdd
from recollect.core.errors import PluginBroken, RecollectError, UnknownChoice

if TYPE_CHECKING:
    from recollect.agent.providers import Make, MemoryProvider, Offer, Surroundings

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


# name → what it does; each is a function of that name in the module of that name, loaded when chosen
_PROVIDERS = {
    "recency": "the last 20 turns with their tool calls; stores nothing of its own",
    "semantic": "the last 40 messages, the 5 nearest in meaning with what surrounds them, and a working memory",
    "recollect": "everything: recent turns, facts of other sessions, reflection, briefing, working memory",
}
_PROVIDER_GROUP = "recollect.providers"


def provider(name: str, surroundings: Surroundings) -> MemoryProvider:
    """The memory provider of that name: a shipped one, or one that an installed package registers."""
    make: Make
    if name in _PROVIDERS:
        make = getattr(import_module(f"recollect.agent.providers.{name}"), name)
        return make(surroundings)
    from importlib.metadata import entry_points

    found = {entry.name: entry for entry in entry_points(group=_PROVIDER_GROUP)}
    if name not in found:
        raise UnknownChoice("memory", name, {*_PROVIDERS, *found})
    try:
        make = found[name].load()
        return make(surroundings)
    except RecollectError:
        raise
    except Exception as error:  # a plugin is a stranger's code: whatever it raises is told with its name
        raise PluginBroken(name, found[name].value, str(error) or type(error).__name__) from error


def providers() -> list[Offer]:
    """Every memory provider there is: the shipped ones, then those of installed packages by name."""
    from importlib.metadata import entry_points

    from recollect.agent.providers import Offer

    others = sorted(
        (entry for entry in entry_points(group=_PROVIDER_GROUP) if entry.name not in _PROVIDERS),
        key=lambda entry: entry.name,
    )
    return [
        *(Offer(name, does) for name, does in _PROVIDERS.items()),
        *(Offer(entry.name, entry.value, entry.dist.name if entry.dist else "?") for entry in others),
    ]
