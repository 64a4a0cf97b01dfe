"""A broker: connections, dispatch, configuration, and lifecycle."""
