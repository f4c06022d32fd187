"""Measures the modules that `torch.compile`'s Inductor generates: whole, kernel by kernel, and under a profiler."""
