"""Sandboxes: their state, faults, scenarios and simulations."""
