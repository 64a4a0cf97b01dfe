"""Faults by name: what can go wrong with a sandbox, the words for it, and the engine that does it and undoes it."""
