"""CUDA devices without a GPU: a library below torch, so that the code above it runs as it is."""
