"""Rerankers: models that read a question beside each text and say how well it answers. Every one of them is lazy."""
