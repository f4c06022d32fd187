"""Comparison of two measured sides: files → series → pairs → verdicts → document."""
