"""Modules of the child process of `verify`. They import torch."""
