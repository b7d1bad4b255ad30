"""The schema as a numbered story. A released migration is never edited; a new one is added after it."""
