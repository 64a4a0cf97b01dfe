"""The tables of settings that ``eosctl/settings/tables`` holds, made from what Kafka's releases declare."""
