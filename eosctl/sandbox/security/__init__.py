"""Authentication and authorization: SASL and TLS on the client listener, and ACLs."""
