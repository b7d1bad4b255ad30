"""What meets the agent: methodologies now; providers, injection and hosts as they come."""
