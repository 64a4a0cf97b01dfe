"""``eosctl verify``."""
