"""``eosctl sandbox``."""
