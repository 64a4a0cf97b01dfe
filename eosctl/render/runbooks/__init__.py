"""Runbooks, their rehearsals, and what survives a region's loss."""
