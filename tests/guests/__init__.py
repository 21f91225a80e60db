"""Other people's hooks: patterns from published hooks, each run as its own agent starts it and through onehook on every agent."""
