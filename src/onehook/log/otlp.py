"""Lines of the decision log as OpenTelemetry log records and metrics, sent over OTLP by the OpenTelemetry SDK.

docs/schema/log.json names the attribute of every field.
"""

from __future__ import annotations

import json
import time
from collections.abc import Sequence
from typing import Any

from onehook.core import OnehookError
from onehook.log.columns import this_machine
from onehook.log.reader import Entry, Quiet, deciding, epoch, outcome
from onehook.version import VERSION

_TIMEOUT = 5.0  # seconds for a request, with the exporter's own retries
_ACTION = {"deny": "block", "ask": "escalate", "allow": "allow", "none": "allow"}
_BOUNDS = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0)  # seconds


class NotSent(OnehookError):
    """The collector did not confirm."""


def attributes(entry: Entry) -> dict[str, Any]:
    """The attributes of a log record; empty ones are omitted."""
    decided = deciding(entry) or {}
    named = {
        "log.record.uid": entry["id"],
        "gen_ai.agent.name": entry["agent"],
        "gen_ai.agent.version": entry["agent_version"],
        "gen_ai.conversation.id": entry["session"],
        "gen_ai.tool.name": entry["tool"],
        "gen_ai.security.guardrail.name": "onehook",
        "gen_ai.security.target.id": entry["subject"],
        "gen_ai.security.action.type": _ACTION[entry["decision"]],
        "gen_ai.security.verdict.type": entry["would"] or decided.get("said"),
        "gen_ai.security.verdict.reason": entry["reason"] or decided.get("reason"),
        "gen_ai.security.policy.id": entry["policy"],
        "gen_ai.security.policy.version": entry["policy_hash"],
        "gen_ai.security.policy.name": decided.get("pack"),
        "gen_ai.security.policy.rule.id": decided.get("name"),
        "gen_ai.security.risk.severity": decided.get("severity"),
        "gen_ai.security.content.modified": True if {"modified_input", "modified_output"} & {*entry["effects"]} else None,
        "error.type": "_OTHER" if entry["error"] else None,
        "error.message": entry["error"],
        "enduser.id": entry["approver"],
        "onehook.outcome": outcome(entry),
        "onehook.event": entry["event"],
        "onehook.project": entry["project"],
        "onehook.mode": entry["mode"],
        "onehook.would": entry["would"],
        "onehook.duration": entry["ms"] / 1000,
        "onehook.line.number": entry["n"],
        "onehook.line.prev": entry["prev"],
        "onehook.effects": entry["effects"],
        **{f"onehook.{name}": json.dumps(entry[name]) for name in ("by", "dropped", "pause", "content") if entry.get(name)},
    }
    return {name: value for name, value in named.items() if value not in (None, "", [])}


class Totals:
    """What the metrics count, starting with the first line. A data point contains the total, so one that arrives twice counts once."""

    def __init__(self, kept: dict[str, Any] | None = None) -> None:
        kept = kept or {}
        self.begun: int = kept.get("begun", time.time_ns())
        self.events: dict[str, int] = kept.get("events", {})  # by agent, event, outcome and rule, as JSON
        self.times: dict[str, list[Any]] = kept.get("times", {})  # by agent: count, sum, least, most, buckets

    def add(self, entry: Entry) -> None:
        decided = deciding(entry)
        self._count(entry["agent"], entry["event"], outcome(entry), decided["name"] if decided else "", entry["ms"] / 1000)

    def add_quiet(self, quiet: Quiet) -> None:
        self._count(quiet.agent, quiet.event, "none", "", quiet.ms / 1000)

    def _count(self, agent: str, event: str, result: str, rule: str, seconds: float) -> None:
        key = json.dumps([agent, event, result, rule])
        self.events[key] = self.events.get(key, 0) + 1
        known = self.times.setdefault(agent, [0, 0.0, seconds, seconds, [0] * (len(_BOUNDS) + 1)])
        known[0] += 1
        known[1] += seconds
        known[2], known[3] = min(known[2], seconds), max(known[3], seconds)
        known[4][sum(seconds > bound for bound in _BOUNDS)] += 1

    def to_dict(self) -> dict[str, Any]:
        return {"begun": self.begun, "events": self.events, "times": self.times}


class Sender:
    """The exporters of the SDK, for one endpoint: http(s)://host:port over HTTP, grpc(s)://host:port over gRPC."""

    def __init__(self, url: str) -> None:
        scheme, _, rest = url.partition("://")
        try:
            from opentelemetry.sdk.resources import Resource
            from opentelemetry.sdk.util.instrumentation import InstrumentationScope

            if scheme.startswith("http"):
                from opentelemetry.exporter.otlp.proto.http._log_exporter import OTLPLogExporter as HttpLogs
                from opentelemetry.exporter.otlp.proto.http.metric_exporter import OTLPMetricExporter as HttpMetrics

                base = url.rstrip("/")
                self.logs: Any = HttpLogs(f"{base}/v1/logs", timeout=_TIMEOUT)
                self.metrics: Any = HttpMetrics(f"{base}/v1/metrics", timeout=_TIMEOUT)
            else:
                from opentelemetry.exporter.otlp.proto.grpc._log_exporter import OTLPLogExporter as GrpcLogs
                from opentelemetry.exporter.otlp.proto.grpc.metric_exporter import OTLPMetricExporter as GrpcMetrics

                plain = scheme == "grpc"
                self.logs = GrpcLogs(rest, insecure=plain, timeout=_TIMEOUT)
                self.metrics = GrpcMetrics(rest, insecure=plain, timeout=_TIMEOUT)
        except ImportError:
            raise OnehookError("OTLP needs the OpenTelemetry SDK: pip install 'onehook[otlp]'") from None
        self.url = url
        self.resource = Resource({"service.name": "onehook", "service.version": VERSION, "host.name": this_machine()})
        self.scope = InstrumentationScope("onehook", VERSION)

    def send_logs(self, entries: Sequence[Entry]) -> None:
        """NotSent unless the collector has confirmed all of them."""
        from opentelemetry.sdk._logs import ReadableLogRecord
        from opentelemetry.sdk._logs.export import LogRecordExportResult

        records = [ReadableLogRecord(_record(entry), self.resource, self.scope) for entry in entries]
        if self.logs.export(records) is not LogRecordExportResult.SUCCESS:
            raise NotSent(f"{self.url} did not confirm {len(records)} lines")

    def send_metrics(self, totals: Totals) -> None:
        from opentelemetry.sdk.metrics.export import (
            AggregationTemporality,
            Histogram,
            HistogramDataPoint,
            Metric,
            MetricExportResult,
            MetricsData,
            NumberDataPoint,
            ResourceMetrics,
            ScopeMetrics,
            Sum,
        )

        now, cumulative = time.time_ns(), AggregationTemporality.CUMULATIVE
        counts = [NumberDataPoint(_labels(key), totals.begun, now, count) for key, count in totals.events.items()]
        times = [
            HistogramDataPoint({"gen_ai.agent.name": agent}, totals.begun, now, count, total, buckets, _BOUNDS, least, most)
            for agent, (count, total, least, most, buckets) in totals.times.items()
        ]
        metrics = [
            Metric("onehook.events", "Agent events, by outcome", "{event}", Sum(counts, cumulative, True)),
            Metric("onehook.event.duration", "From the start of onehook's own code to its answer", "s", Histogram(times, cumulative)),
        ]
        data = MetricsData([ResourceMetrics(self.resource, [ScopeMetrics(self.scope, metrics, "")], "")])
        if self.metrics.export(data) is not MetricExportResult.SUCCESS:
            raise NotSent(f"{self.url} did not confirm the metrics")

    def close(self) -> None:
        self.logs.shutdown()
        self.metrics.shutdown()


def _labels(key: str) -> dict[str, str]:
    names = ("gen_ai.agent.name", "onehook.event", "onehook.outcome", "gen_ai.security.policy.rule.id")
    return {name: value for name, value in zip(names, json.loads(key)) if value}


def _record(entry: Entry) -> Any:
    from opentelemetry._logs import LogRecord, SeverityNumber

    result = outcome(entry)
    severity = {"error": SeverityNumber.ERROR, "deny": SeverityNumber.WARN, "ask": SeverityNumber.WARN}.get(result, SeverityNumber.INFO)
    at = round(epoch(entry["time"]) * 1000) * 1_000_000
    body = f"{result}: {entry['subject'] or entry['event']}"
    return LogRecord(
        timestamp=at,
        observed_timestamp=at,
        severity_number=severity,
        severity_text=severity.name,
        body=body,
        event_name="gen_ai.security.finding",
        attributes=attributes(entry),
    )
