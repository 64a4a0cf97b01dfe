"""``eosctl checklist``."""
