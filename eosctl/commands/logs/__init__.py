"""``eosctl logs``."""
