"""Generate the table of error names and texts of Kafka clients."""
