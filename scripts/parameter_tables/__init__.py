"""The tables of settings that `eosctl/knowledge/settings` holds, made from what Kafka's releases declare."""
