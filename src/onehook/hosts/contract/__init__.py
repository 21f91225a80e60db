"""The open stdin/stdout contract: one module for each part that onehook.hosts.interface declares."""
