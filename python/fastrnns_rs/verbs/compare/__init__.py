"""Two sides that were measured, and what may be said of them: files → series → pairs → verdicts → the document."""
