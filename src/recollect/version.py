"""The released version, alone so that the build can read it without importing the house."""

__version__ = "0.1.0"
