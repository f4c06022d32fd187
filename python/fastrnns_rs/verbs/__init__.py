"""Logic of the commands, one folder each; only workers import torch."""
