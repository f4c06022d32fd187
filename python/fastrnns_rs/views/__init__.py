"""Tables, sentences and files for display.

All values shown are computed in other packages.
"""
