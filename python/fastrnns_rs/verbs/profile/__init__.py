"""Captures: runs under a profiler, checks of the files, and capture manifests."""
