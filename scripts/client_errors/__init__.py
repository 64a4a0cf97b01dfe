"""Write the table of the error names and texts of Kafka clients."""
