"""Rules over who may do what, and over secrets."""
