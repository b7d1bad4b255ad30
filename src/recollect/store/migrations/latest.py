"""The number of the newest migration, alone so that opening an up-to-date store loads no migration."""

LATEST = 10
