"""The steps of scenarios: requests of clients and administrators, faults, and assertions."""
