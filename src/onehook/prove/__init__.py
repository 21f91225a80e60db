"""Proofs on real agents: the scripted model, how agents are started, and what they did."""
