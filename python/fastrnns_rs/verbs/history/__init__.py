"""History of runs: files and tags, a rebuildable index, and names of runs."""
