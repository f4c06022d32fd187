"""Interleaved measurement of two sides in pairs of processes; drift affects both."""
