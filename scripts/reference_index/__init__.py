"""Compile the index of `explain` from the product's catalogs.

`scripts.generate_reference` writes it, so that the program reads one file at start instead of two hundred modules.
"""
