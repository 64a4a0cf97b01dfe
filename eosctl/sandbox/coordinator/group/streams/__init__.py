"""Streams groups (KIP-1071): values, rules, records, and the driver."""
