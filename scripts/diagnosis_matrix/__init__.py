"""Inject faults, and check that the diagnoses report exactly these."""
