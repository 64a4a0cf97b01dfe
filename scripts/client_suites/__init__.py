"""The test suites of other Kafka clients, run against the sandbox."""
