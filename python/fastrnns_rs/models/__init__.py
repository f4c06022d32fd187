"""Runners of this package: decorated creators, which import torch when called."""
