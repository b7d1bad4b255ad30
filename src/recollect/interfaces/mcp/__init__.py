"""The door for agents that speak the Model Context Protocol. Needs the extra `mcp`; loaded by `recollect mcp` only."""

from __future__ import annotations

HOOKS = "hooks"  # for a host's hooks, not for a model: the one tool that answers their events
PROFILES = ("default", "assistant", "code", "docs", "admin", HOOKS)
