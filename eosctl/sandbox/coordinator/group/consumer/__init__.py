"""Consumer groups (KIP-848), with server-side assignors."""
