"""Content scanners: what an agent is told and what it writes is shown to a scanner, whose verdict the policy acts on.

    model      what is scanned, what comes of it, and the Protocol of a backend
    content    what of an event is scanned: text and code told apart, and what happens to what is too long
    settings   the options of the policy, checked
    backends   one module each: the services, a model as a judge, anything with an HTTP API, local programs
    transport  HTTP with a deadline; keys
    breaker    whether a scanner is worth asking, known to all processes
    cache      verdicts by the hash of what was scanned
    engine     one scan: cache, breaker, retries

Nothing here is loaded before there is something to scan. The policy itself is onehook.policies.scanner.
"""
