"""Modules of the profiled process."""
