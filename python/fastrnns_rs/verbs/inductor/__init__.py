"""Measurement of generated modules of torch.compile, for the `inductor` command.

Modules are measured as a whole, kernel by kernel, and under a profiler.
"""
