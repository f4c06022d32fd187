"""Plots of documents, drawn by matplotlib."""
