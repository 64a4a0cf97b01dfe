"""Parts of a release: reproducible archives, lower bounds, and audits."""
