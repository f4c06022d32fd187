"""Whether runners compute what they claim to: each against an independent reference, in a child process."""
