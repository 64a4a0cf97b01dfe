"""Histories of operations, and pure checkers over them."""
