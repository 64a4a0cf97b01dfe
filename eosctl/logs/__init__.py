"""Log mining without Spark: files and topics in, events and incidents out."""
