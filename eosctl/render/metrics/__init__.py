"""Render the catalog of metrics, and readings of running programs."""
