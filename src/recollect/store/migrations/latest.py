"""What the header of a store of this release says, alone so that reading one loads no migration and no engine."""

LATEST = 15  # the number of the newest migration
APPLICATION_ID = 0x52434C54  # "RCLT": this database is ours
# The whole schema of this release, for a store that grew and for one made at once; see `store/sqlite/recognise.py`.
# A test computes them from the migrations and prints the line that belongs here.
SCHEMA_DIGESTS = frozenset({"487f376fa05b060046d49364e65899cb", "808efb8e7b79ae124e9a4eace2d732d9"})
