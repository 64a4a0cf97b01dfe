"""Metrics: the catalogue, and readings of running programs."""
