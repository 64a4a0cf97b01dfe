"""Kafka's own files at scale: what copied segments and internal topics say about transactions.

A task reads one partition from its first segment to its last, as only their order tells what became of a transaction;
what is added up afterwards is small.
"""
