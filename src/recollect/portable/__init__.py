"""Memories on their way out and in: export, import, readers of other programs' memories, and moving a store."""
