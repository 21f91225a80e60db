"""The author's kit: what a policy does, without an agent."""
