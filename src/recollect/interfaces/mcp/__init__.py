"""The door for agents that speak the Model Context Protocol. Needs the extra `mcp`; loaded by `recollect mcp` only."""

from __future__ import annotations

PROFILES = ("default", "assistant", "code", "docs", "admin")
