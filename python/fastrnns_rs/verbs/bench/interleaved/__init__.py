"""Measures two sides at the same time: their processes take turns in blocks ABBA, so that a drift meets both alike."""
