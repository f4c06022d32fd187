"""Reading of captures, the JSON document of a report, and its summary."""
