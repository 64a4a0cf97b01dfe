"""Faults caused only by requests of clients and administrators, on the sandbox and on real Kafka."""
