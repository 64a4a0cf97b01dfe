"""Faults of a sandbox: their names, parameters, and the engine that injects and ends them."""
