"""What a tool call does to the project, whatever its host calls the tool. Alone, so that a hook can load it."""

from __future__ import annotations

from enum import StrEnum


class Act(StrEnum):
    """The kinds of deed."""

    READ = "read"
    EDIT = "edit"
    SEARCH = "search"
    LIST = "list"
    RUN = "run"
    PLAN = "plan"
    EXTERNAL = "external"
    OTHER = "other"
