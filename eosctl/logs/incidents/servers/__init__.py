"""Detect faults of brokers and controllers: outages, lost quorums, failovers, and clocks that were set."""
