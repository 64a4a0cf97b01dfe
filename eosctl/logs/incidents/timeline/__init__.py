"""Put the events of a set of logs in order, and name the programs that wrote them."""
