"""Values as plain JSON, the same at every door: a module for each room."""
