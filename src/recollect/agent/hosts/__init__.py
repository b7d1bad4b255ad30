"""Putting Recollect into the programs people work with, and taking it out again to the byte. Nothing here opens a
memory. `catalog` says what each host's files should hold, `edits` works out the changes (`jsonc` and `toml` change a
text in place), `install` carries them out, `check` looks how an installation is doing."""
