"""What Kafka's own tools print, read as evidence."""
