"""Runs that are kept: a folder of run files and tags, an index that can be made anew from these, and names for runs."""
