"""Measurement of generated modules.

Child processes load it, and modules that benchmark themselves.
"""
