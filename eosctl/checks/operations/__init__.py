"""Checks of the health of the cluster."""
