"""What a child process does around a profiler. Only `torch_session` imports torch."""
