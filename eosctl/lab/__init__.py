"""Engines, faults, scenarios, and simulation on virtual time."""
