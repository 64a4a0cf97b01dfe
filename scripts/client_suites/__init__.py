"""Other projects' own tests of their Kafka clients, run against the sandbox."""
