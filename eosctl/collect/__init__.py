"""Evidence probes that produce a `ClusterSnapshot`; they never change a cluster."""
