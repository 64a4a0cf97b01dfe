"""``eosctl metrics``."""
