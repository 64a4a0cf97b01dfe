"""The steps of scenarios: what clients and administrators do, what goes wrong, and what must be seen."""
