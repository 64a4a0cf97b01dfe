"""Pure rules over a snapshot, with their registry and runner."""
