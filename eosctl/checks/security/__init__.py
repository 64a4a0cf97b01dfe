"""Checks of access rules and listeners."""
