"""HTML pages of documents: one file each, which needs no network."""
