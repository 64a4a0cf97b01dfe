"""Checks of data directories: damage, contradictions between files, and hanging transactions."""
