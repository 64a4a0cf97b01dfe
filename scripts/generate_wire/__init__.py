"""Generate the code of `eosctl.wire` from the message tables."""
