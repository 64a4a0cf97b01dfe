"""Runs the recorded protocol scenarios against the sandbox and compares every answer with the recorded one."""
