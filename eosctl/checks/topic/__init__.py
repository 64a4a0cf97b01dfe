"""Checks of topics and partitions."""
