"""Compile the index of `explain` from everything that the product knows.

`scripts.generate_reference` writes it, so that a start of the program reads one file instead of two hundred modules.
"""
