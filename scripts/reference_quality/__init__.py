"""Measure the quality of the reference's answers."""
