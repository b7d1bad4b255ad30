"""The review queue: everything that waits for a person's decision, in one order."""
