"""``eosctl group``."""
