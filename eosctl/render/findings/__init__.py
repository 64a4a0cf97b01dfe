"""Render findings of all commands in every format."""
