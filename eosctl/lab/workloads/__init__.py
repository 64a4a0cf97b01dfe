"""Applications that put load on a cluster."""
