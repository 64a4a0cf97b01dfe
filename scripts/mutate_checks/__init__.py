"""Invert every comparison of every check, one at a time; a case of the check must fail each time.

A comparison that can be turned round without a case noticing is not tested.
"""
