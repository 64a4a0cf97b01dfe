"""A TCP proxy in front of a cluster: the faults of clients' streams, for clusters that have none of their own."""
