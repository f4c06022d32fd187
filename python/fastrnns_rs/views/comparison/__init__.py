"""A comparison of runs or of captures, for a terminal, a pull request and a build server."""
