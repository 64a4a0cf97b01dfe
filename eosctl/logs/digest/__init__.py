"""What a person wants to see of logs beside the incidents: what is new, what came in bursts, what came before."""
