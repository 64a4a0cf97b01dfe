"""Find the category and the fields of a record according to the catalog."""
