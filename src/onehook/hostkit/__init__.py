"""What the hosts share: one module for each part of a host, under the part's name."""
