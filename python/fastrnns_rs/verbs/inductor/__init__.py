"""`inductor`: generated modules of torch.compile, measured whole, kernel by kernel and under a profiler."""
