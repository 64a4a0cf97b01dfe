"""Checks of releases and features."""
