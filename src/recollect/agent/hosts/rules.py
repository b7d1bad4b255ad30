"""The few lines for hosts that cannot be given memories, so that the model asks for them by itself."""

from __future__ import annotations

from importlib.resources import files


def rules() -> str:
    return files("recollect.agent.hosts").joinpath("rules.txt").read_text(encoding="utf-8")
