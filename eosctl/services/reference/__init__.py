"""Search in the reference: full text with synonyms, Chinese, and what a pasted text names."""
