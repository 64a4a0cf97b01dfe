"""Detect faults of the members of consumer groups."""
