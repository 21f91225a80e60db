"""Live events kept as fixtures (log), and events run through a policy again (replay)."""
