"""Clusters of eosctl and its peers under one load generator, in turns."""
