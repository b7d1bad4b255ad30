"""The doors: parse, call one method, render. No decision is made here."""
