"""Comparison of a runner with itself, for `ab --same`."""
