"""``eosctl check``."""
