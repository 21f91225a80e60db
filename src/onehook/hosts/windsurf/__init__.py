"""Windsurf, a guest: its hooks are imported and run on the hosts. One module for each part that onehook.hosts.interface declares."""
