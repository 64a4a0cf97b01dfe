"""``eosctl doctor``."""
