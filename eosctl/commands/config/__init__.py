"""``eosctl config``."""
