"""``eosctl runbook``."""
