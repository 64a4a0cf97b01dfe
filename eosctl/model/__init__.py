"""Values shared by all packages: immutable, comparable, and without dependencies."""
