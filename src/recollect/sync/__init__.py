"""Sync: a local store and the team's server kept in step. The server's log gives the order, and each copy merges."""
