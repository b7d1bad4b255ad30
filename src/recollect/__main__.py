"""`python -m recollect`."""

try:
    from recollect.interfaces.start import cli
except KeyboardInterrupt:
    raise SystemExit(130) from None

cli()
