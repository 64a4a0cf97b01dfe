"""Find events and incidents in log files and topics, without Spark."""
