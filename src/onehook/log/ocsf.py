"""Lines of the decision log as events of OCSF, the Open Cybersecurity Schema Framework: https://schema.ocsf.io

Each is a Detection Finding with the profiles Security Control and Host. docs/schema/log.json names the attribute of every field.
"""

from __future__ import annotations

from typing import Any

from onehook.log.reader import Entry, deciding, epoch, outcome
from onehook.version import VERSION

OCSF_VERSION = "1.8.0"
_CLASS, _CREATE = 2004, 1
_SEVERITY = {"low": (2, "Low"), "medium": (3, "Medium"), "high": (4, "High"), "critical": (5, "Critical")}
_ACTION = {"deny": (2, "Denied"), "ask": (99, "ask"), "allow": (1, "Allowed"), "none": (1, "Allowed")}
_DISPOSITION = {"deny": (2, "Blocked"), "ask": (99, "ask"), "allow": (1, "Allowed"), "none": (16, "No Action")}
_OBSERVED = (17, "Logged")
_ERROR = (27, "Error")
# What has no place in the class.
_UNMAPPED = ("agent_version", "project", "event", "would", "effects", "dropped", "ms", "pause", "approver", "prev", "content")


def finding(entry: Entry, machine: str) -> dict[str, Any]:
    decided = deciding(entry) or {}
    others = [one for one in entry["by"] if one is not decided]
    severity = _SEVERITY.get(decided.get("severity", ""), (1, "Informational"))
    action, disposition = _ACTION[entry["decision"]], _DISPOSITION[entry["decision"]]
    if entry["error"]:
        disposition = _ERROR
    elif entry["decision"] == "none" and entry["would"]:
        disposition = _OBSERVED
    return {
        "activity_id": _CREATE,
        "activity_name": "Create",
        "category_uid": 2,
        "category_name": "Findings",
        "class_uid": _CLASS,
        "class_name": "Detection Finding",
        "type_uid": _CLASS * 100 + _CREATE,
        "type_name": "Detection Finding: Create",
        "time": round(epoch(entry["time"]) * 1000),
        "severity_id": severity[0],
        "severity": severity[1],
        "message": entry["reason"] or entry["error"] or f"{outcome(entry)}: {entry['event']}",
        **({"status_detail": entry["error"]} if entry["error"] else {}),
        "is_alert": "deny" in (entry["decision"], entry["would"]),
        "action_id": action[0],
        "action": action[1],
        "disposition_id": disposition[0],
        "disposition": disposition[1],
        "metadata": _metadata(entry),
        "finding_info": {
            "uid": entry["id"],
            "title": f"{outcome(entry)} by {decided['name']}" if decided else outcome(entry),
            **({"desc": decided["reason"]} if decided.get("reason") else {}),
            **({"analytic": _analytic(decided)} if decided else {}),
            **({"related_analytics": [_analytic(one) for one in others]} if others else {}),
        },
        **({"policy": _policy(entry)} if entry["policy"] else {}),
        **({"resources": [{"name": entry["subject"], "type": entry["tool"] or entry["event"]}]} if entry["subject"] else {}),
        **({"evidences": [{"api": {"operation": entry["tool"]}}]} if entry["tool"] else {}),
        "actor": {"app_name": entry["agent"], **({"session": {"uid": entry["session"]}} if entry["session"] else {})},
        "device": {"hostname": machine, "type_id": 0},
        "unmapped": {name: entry[name] for name in _UNMAPPED if entry.get(name) not in (None, "", [])},
    }


def _metadata(entry: Entry) -> dict[str, Any]:
    return {
        "version": OCSF_VERSION,
        "product": {"name": "onehook", "vendor_name": "onehook", "version": VERSION},
        "profiles": ["security_control", "host"],
        "log_name": "decisions",
        "uid": entry["id"],
        "sequence": entry["n"],
        "original_time": entry["time"],
        **({"correlation_uid": entry["session"]} if entry["session"] else {}),
    }


def _policy(entry: Entry) -> dict[str, Any]:
    version = {"version": entry["policy_hash"]} if entry["policy_hash"] else {}
    return {"uid": entry["policy"], **version, "is_applied": entry["mode"] == "enforce"}


def _analytic(one: dict[str, Any]) -> dict[str, Any]:
    """A rule, as an OCSF analytic. Handlers and programs are other kinds of analytics."""
    rule = one["kind"] in ("rule", "permission", "policy")
    return {
        "uid": one["name"],
        "name": one["name"],
        "type_id": 1 if rule else 99,
        "type": "Rule" if rule else one["kind"],
        **({"category": one["pack"]} if one.get("pack") else {}),
    }
