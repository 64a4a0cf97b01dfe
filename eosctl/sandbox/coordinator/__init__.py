"""Coordinators: transactions and groups."""
