"""The door for browsers and programs on this machine: an HTTP API, an event stream, the MCP endpoint, the web panel.

Needs the extra `server`; loaded by `recollect serve` only.
"""

from __future__ import annotations

READ, WRITE, ADMIN = SCOPES = ("read", "write", "admin")  # each includes those before it
API = "/v1"
COOKIE = "recollect"  # the beginning of its name; the port follows, because browsers share cookies between ports
