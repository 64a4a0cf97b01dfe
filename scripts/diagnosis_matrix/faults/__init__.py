"""The faults by type, each next to its near misses."""
