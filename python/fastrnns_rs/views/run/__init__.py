"""A run: its table, its sweep, and the files that other programs read."""
