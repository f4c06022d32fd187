"""Comparison of runs or captures, for terminals, pull requests and build servers."""
