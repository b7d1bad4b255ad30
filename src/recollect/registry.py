"""What strangers may add, by entry point: methodologies and memory providers now, more ports as they open."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, TypeVar

from recollect.agent.methodology import Methodology, bmad, native, tdd
from recollect.core.errors import PluginBroken, RecollectError, UnknownChoice

if TYPE_CHECKING:
    from recollect.agent.providers import MakeProvider, MemoryProvider, ProviderContext, ProviderInfo

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


# name → what it does; the classes are loaded when one is chosen
_PROVIDERS = {
    "recency": "the last 20 turns with their tool calls; stores nothing of its own",
    "semantic": "the last 40 messages, the 5 nearest in meaning with what surrounds them, and a working memory",
    "recollect": "everything: recent turns, facts of other sessions, reflection, briefing, working memory",
}
_PROVIDER_GROUP = "recollect.providers"


def provider(name: str, context: ProviderContext) -> MemoryProvider:
    """The memory provider of that name: a shipped one, or one that an installed package registers."""
    if name in _PROVIDERS:
        from recollect.agent.providers.shipped import SHIPPED

        return SHIPPED[name](context)
    from importlib.metadata import entry_points

    found = {entry.name: entry for entry in entry_points(group=_PROVIDER_GROUP)}
    if name not in found:
        raise UnknownChoice("memory", name, {*_PROVIDERS, *found})
    try:
        make: MakeProvider = found[name].load()
        return make(context)
    except RecollectError:
        raise
    except Exception as error:  # a plugin is a stranger's code: whatever it raises is told with its name
        raise PluginBroken(name, found[name].value, str(error) or type(error).__name__) from error


def providers() -> list[ProviderInfo]:
    """Every memory provider there is: the shipped ones, then those of installed packages by name."""
    from importlib.metadata import entry_points

    from recollect.agent.providers import ProviderInfo

    others = sorted(
        (entry for entry in entry_points(group=_PROVIDER_GROUP) if entry.name not in _PROVIDERS),
        key=lambda entry: entry.name,
    )
    return [
        *(ProviderInfo(name, does) for name, does in _PROVIDERS.items()),
        *(ProviderInfo(entry.name, entry.value, entry.dist.name if entry.dist else "?") for entry in others),
    ]
