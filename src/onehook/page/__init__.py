"""`onehook desk`: the page on loopback where a person sees their agents and answers what they ask (docs/approvals.md)."""
