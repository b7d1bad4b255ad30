"""Talking to servers: the one HTTP client that embedders and language models share."""
