"""Summarize logs in addition to the incidents: new messages, bursts, and precursors of failures."""
