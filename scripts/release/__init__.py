"""What a release is made of: archives that come out the same each time, lower bounds, audits."""
