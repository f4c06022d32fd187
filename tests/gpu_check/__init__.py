"""Everything that is to be executed on the day there is a GPU, and one page about it: see scripts/gpu-check."""
