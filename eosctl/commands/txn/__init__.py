"""``eosctl txn`` and ``eosctl fencing``."""
