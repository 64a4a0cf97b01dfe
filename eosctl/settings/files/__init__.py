"""Files as people have them: text, documents, includes, edits, and what a project decided about them."""
