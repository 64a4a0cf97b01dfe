"""Checks of logs; each judges a family of incidents."""
