"""Readers of transcripts: each turns one program's lines into events and never raises on what it does not know."""
