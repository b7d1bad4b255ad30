"""Putting Recollect into the programs people work with: one file per host, which says what it wishes for; the plan
and the hand that carries it out are shared. Nothing here opens a memory."""
