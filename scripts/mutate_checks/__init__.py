"""Invert every comparison of every check, one at a time; a case of the check must fail each time."""
