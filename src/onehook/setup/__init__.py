"""Plan and apply changes to the config files of coding agents."""
