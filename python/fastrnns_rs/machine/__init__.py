"""Hardware and software of the machine, health checks, and measurement warnings."""
