"""The embedded engine: the one place that knows SQLite and its driver."""
