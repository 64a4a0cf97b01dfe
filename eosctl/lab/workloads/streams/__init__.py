"""A model of a Kafka Streams application under exactly_once_v2: tasks, stores with changelogs, checkpoints."""
