"""What `eosctl decode` prints: tables, JSON lines, tab-separated lines, and the text of Kafka's own dump tool."""
