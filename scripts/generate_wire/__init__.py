"""Turn the message tables into the code of `eosctl.wire.messages`."""
