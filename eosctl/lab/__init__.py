"""Engines, faults, scenarios and the simulation on virtual time."""
