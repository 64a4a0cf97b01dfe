"""Checks of what logs tell; each judges a family of incidents."""
