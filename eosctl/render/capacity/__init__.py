"""Capacity plans: text, pages, charts."""
