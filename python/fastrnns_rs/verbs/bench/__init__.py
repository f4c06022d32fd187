"""Runs a plan in fresh worker processes and keeps what they measure: effort → plan → order → execution → rows."""
