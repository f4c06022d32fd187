"""History of runs: folder of run files and tags, rebuildable index, and run names."""
