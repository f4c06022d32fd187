"""Child processes: started, followed and ended."""
