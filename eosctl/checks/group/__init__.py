"""Checks of groups."""
