"""The documents room: markdown and plain text as memory, with what is trusted, linked and contradicted."""
