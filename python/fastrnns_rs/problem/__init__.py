"""Problem of a runner: sizes, dtype, device, modes and the axes of a sweep."""
