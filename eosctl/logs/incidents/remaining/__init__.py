"""Judge the records that no detector explains: by the catalog, by how long they last, or as unknown errors."""
