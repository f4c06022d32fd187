"""Verification of runners against independent references, in a child process."""
