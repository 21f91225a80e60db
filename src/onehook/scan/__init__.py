"""Content scanners: what an agent is told and what it writes is sent to a scanner, and the policy acts on its verdict.

    model      what is scanned, the outcome, and the Protocol of a backend
    content    which parts of an event are scanned: text and code separately, and what happens to parts that are too long
    settings   the options of the policy, checked
    backends   one module each: the services, a model as a judge, anything with an HTTP API, local programs
    transport  HTTP with a deadline; keys
    breaker    whether a scanner is worth asking, shared by all processes
    cache      verdicts by the hash of what was scanned
    engine     one scan: cache, breaker, retries

Nothing here is loaded before there is something to scan. The policy itself is onehook.policies.scanner.
"""
