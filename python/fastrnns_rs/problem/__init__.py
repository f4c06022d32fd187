"""The problem that a runner solves: sizes, dtype, device, modes and the axes of a sweep."""
