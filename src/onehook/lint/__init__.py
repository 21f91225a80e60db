"""Before a policy is live: what in it cannot work, and where. Nothing here runs on the way to a decision."""
