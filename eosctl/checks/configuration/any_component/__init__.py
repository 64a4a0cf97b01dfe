"""Rules over any setting of any component: its name, its value, whether it still exists."""
