"""Values and contracts. Standard library only; knows no store, no model and no door."""
