"""Generators of the pages under docs/ that come from the code, the hosts' tables and the results of proofs."""
