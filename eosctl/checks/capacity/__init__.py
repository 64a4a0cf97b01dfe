"""Checks of what grows with load."""
