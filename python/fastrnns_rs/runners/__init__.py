"""Runners: definition, registry, plug-ins, and the plan of which of them run."""
