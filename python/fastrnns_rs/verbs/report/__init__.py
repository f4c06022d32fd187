"""What captures hold: which files to read, the document that comes of it, and the summary that people get."""
