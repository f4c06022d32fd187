"""Interleaved measurement of two sides in ABBA blocks; drift affects both."""
