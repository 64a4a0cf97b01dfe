"""Render a diagnosis in every format, and also checks, checklists, and access rules."""
