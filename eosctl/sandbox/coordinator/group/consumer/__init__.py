"""Consumer groups of the new rebalance protocol (KIP-848), with assignors on the server."""
