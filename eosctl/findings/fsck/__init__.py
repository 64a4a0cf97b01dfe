"""Findings in data directories: their kinds, what follows from each, and the result of a check."""
