"""Files as they lie on a host: which to read, what each of them is, and its day."""
