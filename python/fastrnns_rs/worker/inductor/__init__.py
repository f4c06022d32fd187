"""What runs generated modules: loaded by child processes, and by modules that benchmark themselves."""
