"""``eosctl capacity``."""
