"""Fencing of a transactional id: its owners, and the reason why each lost it."""
