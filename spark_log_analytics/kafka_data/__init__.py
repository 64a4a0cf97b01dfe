"""Analyze transactions at scale in copies of Kafka's segments and internal topics.

A task reads one partition from the first segment to the last, because the outcome of a transaction depends on their
order. The results that are added up afterwards are small.
"""
