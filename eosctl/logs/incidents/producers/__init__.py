"""Detect faults of transactions and their producers: fencing, rollbacks, and writes that were refused or lost."""
