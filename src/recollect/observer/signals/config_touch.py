"""config_touch: a configuration file was edited, and other files within ten steps of it.

The others are what the setting reaches. A configuration edited alone says nothing.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import ClassVar

from recollect.observer import gate
from recollect.observer.events import ActionType, Event, ToolCall
from recollect.observer.signals.note import Note, Signal, note, signal

_ENDINGS = (".toml", ".yaml", ".yml", ".ini", ".cfg", ".conf", ".env", ".properties", ".lock", "rc", ".tf")
_NAMES = frozenset(
    "package.json tsconfig.json biome.json dockerfile makefile go.mod cargo.toml pom.xml build.gradle "
    "setup.py .env .gitignore .dockerignore jenkinsfile procfile settings.json config.json".split()
)
_LATELY = 8  # edits, and configurations, that are remembered


@dataclass(slots=True)
class ConfigTouch:
    name: ClassVar[str] = "config_touch"
    notes: dict[str, Note] = field(default_factory=dict)
    edits: dict[str, int] = field(default_factory=dict)
    configs: dict[str, int] = field(default_factory=dict)

    def see(self, event: Event) -> None:
        if not isinstance(event, ToolCall) or event.action is not ActionType.EDIT:
            return
        for path in event.paths:
            config = is_config(path)
            near = self.edits if config else self.configs
            for other, step in near.items():
                if 0 <= event.step - step <= gate.CONFIG_REACH:
                    self._reach(path if config else other, other if config else path, event.step)
            own = self.configs if config else self.edits
            own.pop(path, None)
            own[path] = event.step
            if len(own) > _LATELY:
                del own[next(iter(own))]

    def _reach(self, config: str, other: str, step: int) -> None:
        kept = note(self.notes, config)
        kept.mark(step)
        kept.name(config, other)

    def found(self, session: str) -> list[Signal]:
        return [signal(self.name, session, path, kept) for path, kept in self.notes.items()]


def is_config(path: str) -> bool:
    """Does the name of the file say that it holds settings?"""
    base = path.rsplit("/", 1)[-1].casefold()
    return base in _NAMES or base.endswith(_ENDINGS) or ".config." in base or base.startswith(".env")
