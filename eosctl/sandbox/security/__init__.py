"""Who a client is and what it may do: SASL and TLS on the client listener, access control lists."""
