"""The machine: its hardware and software, checks of its state, and warnings about doubtful numbers."""
