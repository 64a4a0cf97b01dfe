"""The sandbox measured beside its peers."""
