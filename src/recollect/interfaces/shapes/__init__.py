"""The shapes of what agents and programs are answered, for the output schemas of MCP and of the HTTP API: a module for
each room. The values are made by `payloads`.

Only what a caller may rely on is named; a shape is open, so a new field in a payload breaks nobody.
"""
