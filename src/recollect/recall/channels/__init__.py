"""The ways of finding candidates, one file each."""
