"""Real Apache Kafka as an engine: jars through Maven, one JVM per node, on loopback."""
