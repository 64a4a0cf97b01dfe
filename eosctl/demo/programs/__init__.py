"""Applications with confluent-kafka; each is a single independent file to copy and modify."""
