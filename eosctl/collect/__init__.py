"""Evidence probes that end in a ClusterSnapshot; they never change a cluster."""
