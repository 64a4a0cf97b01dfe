"""Faults made on purpose, and whether the diagnoses name them and nothing else."""
