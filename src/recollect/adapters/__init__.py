"""Recollect inside other people's frameworks, one file each, imported late. Each speaks to the public façade only."""
