"""Real Apache Kafka as an engine of the lab: jars through Maven, one JVM per node, loopback only."""
