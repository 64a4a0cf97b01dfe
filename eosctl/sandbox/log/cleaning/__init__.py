"""The log cleaner: compaction of logs by key (Kafka's `LogCleaner`)."""
