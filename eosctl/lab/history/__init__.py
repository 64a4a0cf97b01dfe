"""Histories of operations and the pure checkers over them."""
