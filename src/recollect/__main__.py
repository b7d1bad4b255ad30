"""`python -m recollect`."""

from recollect.interfaces.start import cli

cli()
