"""Check of a machine's suitability for reliable measurements, for `doctor`."""
