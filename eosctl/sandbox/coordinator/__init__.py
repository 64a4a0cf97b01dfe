"""The transaction coordinator and the group coordinator."""
