"""Values that travel between rooms: frozen, comparable, standard library only."""
