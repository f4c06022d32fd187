"""Views of a run: table, sweep tables, and files for other programs."""
