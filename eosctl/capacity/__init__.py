"""Capacity formulas and plans for exactly-once workloads."""
