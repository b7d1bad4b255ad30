"""What the header of a store of this release says, alone so that reading one loads no migration and no engine."""

LATEST = 13  # the number of the newest migration
APPLICATION_ID = 0x52434C54  # "RCLT": this database is ours
# The whole schema of this release, for a store that grew and for one made at once; see `store/sqlite/recognise.py`.
# A test computes them from the migrations and prints the line that belongs here.
SCHEMA_DIGESTS = frozenset({"4c8de24a39926c16d859c16d992ef1c3", "d0c857028229d1f47cb5cfa288705833"})
