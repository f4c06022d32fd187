"""Benchmark runs in fresh workers: effort → plan → order → execution → rows."""
