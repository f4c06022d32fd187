"""What the child process of `verify` loads, torch among it."""
