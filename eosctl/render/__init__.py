"""Findings and tables as text, JSON, SARIF, JUnit and HTML."""
