"""Rehearsals of runbooks: each starts from a real fault on a separate cluster, on virtual time."""
