"""Captures held against each other: which kernels made the difference."""
