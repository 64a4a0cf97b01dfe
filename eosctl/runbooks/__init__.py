"""Runbooks and checklists that run."""
