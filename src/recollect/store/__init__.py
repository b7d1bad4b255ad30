"""The only SQL. Portable statements live beside the method that uses them; dialect code is in `sqlite/`."""
