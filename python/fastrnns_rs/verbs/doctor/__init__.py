"""`doctor`: whether numbers of this machine can be trusted."""
