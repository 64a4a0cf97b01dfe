"""Transactions, groups, fencing, timelines, and the plans of changes."""
