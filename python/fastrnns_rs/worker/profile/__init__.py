"""The process inside a profiler."""
