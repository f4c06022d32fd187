"""Sweeps: one run over several values of an option, and what its times say of how they grow."""
