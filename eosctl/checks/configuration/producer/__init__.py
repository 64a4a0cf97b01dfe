"""Rules over producers, of Java and of librdkafka."""
