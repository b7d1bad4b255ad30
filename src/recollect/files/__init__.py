"""Files and repositories as Recollect sees them. Knows no memory."""
