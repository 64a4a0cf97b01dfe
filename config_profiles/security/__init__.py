"""Settings of TLS and SASL for the vetted configurations, shipped as data."""
