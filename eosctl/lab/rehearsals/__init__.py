"""Runbooks rehearsed: each from a fault that is really made on a cluster of its own, on virtual time."""
