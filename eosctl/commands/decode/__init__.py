"""``eosctl decode``."""
