"""The observer room: what agents do, read as events and turned into signals. It never writes while an agent works."""
