"""Findings in every format, whichever command found them."""
