"""Which cluster is meant and as whom: profiles, logins, keys, and endpoints."""
