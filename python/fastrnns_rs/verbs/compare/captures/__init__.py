"""Comparison of captures, which shows the kernels that cause a difference."""
