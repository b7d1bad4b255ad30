"""What the header of a store of this release says, alone so that reading one loads no migration and no engine."""

LATEST = 12  # the number of the newest migration
APPLICATION_ID = 0x52434C54  # "RCLT": this database is ours
# The whole schema of this release, for a store that grew and for one made at once; see `store/sqlite/recognise.py`.
# A test computes them from the migrations and prints the line that belongs here.
SCHEMA_DIGESTS = frozenset({"7e5883d8872ac871425585b0e0bac7e7", "4d26257465df806bf233c2e3800368d3"})
