"""The generators of the pages under docs/ that come from the hosts' tables and from proofs."""
