"""Runners: definition, registry, plug-ins, and the plan of a run."""
