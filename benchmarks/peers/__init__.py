"""Clusters of eosctl and its peers, measured alternately with one load generator."""
