"""Generate the tables of settings in `eosctl/knowledge/settings` from Kafka's releases."""
