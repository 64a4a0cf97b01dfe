"""The steps of rehearsals: faults, applications, and administrators, with real requests and faults."""
