"""What the header of a store of this release says, alone so that reading one loads no migration and no engine."""

LATEST = 12  # the number of the newest migration
APPLICATION_ID = 0x52434C54  # "RCLT": this database is ours
