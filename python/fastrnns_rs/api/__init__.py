"""Public functions that run models or profilers, one file per function."""
