"""Measure how often the reference answers questions rightly."""
