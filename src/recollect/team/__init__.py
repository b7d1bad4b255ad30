"""The team room: who works with a shared store, how they come in, and what they say about one another's memories."""
