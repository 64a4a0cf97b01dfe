"""A TCP proxy in front of a cluster, which injects faults into the streams of clients."""
