"""Sweeps: one run over several values of an option, and the growth of its times."""
