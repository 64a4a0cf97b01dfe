"""Checks of transactions and their producers."""
