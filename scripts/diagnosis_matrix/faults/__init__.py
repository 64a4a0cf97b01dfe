"""The faults, by what is wrong; near misses stand beside what they miss."""
