"""Runbooks that run: they look, decide, ask, act, verify, and leave a record."""
