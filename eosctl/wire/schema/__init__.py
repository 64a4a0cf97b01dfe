"""Message tables: one text file for each API and each record of an internal topic."""
