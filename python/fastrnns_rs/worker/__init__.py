"""Child process that builds and times runners.

Only modules in this folder import torch when they are loaded.
"""
