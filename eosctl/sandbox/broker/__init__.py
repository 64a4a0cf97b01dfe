"""One broker: connections, dispatch, configuration, its life in the cluster."""
