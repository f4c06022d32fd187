"""Documents and their parts at a Python prompt and in notebooks."""
