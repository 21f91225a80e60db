-- Generated from the columns of the log: python -m onehook.fleet.schema
-- docs/fleet.md says how to use it.
SET allow_experimental_low_cardinality_type = 1;

CREATE TABLE IF NOT EXISTS decisions (
    machine LowCardinality(String),
    n UInt64,
    prev String,
    time String,
    id String,
    agent LowCardinality(String),
    agent_version LowCardinality(String),
    session String,
    project LowCardinality(String),
    event LowCardinality(String),
    tool LowCardinality(String),
    subject String,
    decision LowCardinality(String),
    would LowCardinality(Nullable(String)),
    outcome LowCardinality(String),
    decided_by LowCardinality(String),
    by_kind Array(LowCardinality(String)),
    by_name Array(LowCardinality(String)),
    by_pack Array(LowCardinality(String)),
    by_file Array(LowCardinality(String)),
    by_line Array(UInt32),
    by_said Array(LowCardinality(String)),
    by_reason Array(LowCardinality(String)),
    by_severity Array(LowCardinality(String)),
    by_observed Array(UInt8),
    by_exception Array(LowCardinality(String)),
    by_exception_at Array(LowCardinality(String)),
    by_scan String,
    reason String,
    effects Array(LowCardinality(String)),
    dropped String,
    error String,
    ms Float64,
    policy LowCardinality(String),
    policy_hash LowCardinality(String),
    mode LowCardinality(String),
    pause Nullable(String),
    approver LowCardinality(Nullable(String)),
    content Nullable(String),
    day Date MATERIALIZED toDate(substring(time, 1, 10)),
    at DateTime('UTC') MATERIALIZED parseDateTimeBestEffort(time)
)
ENGINE = ReplacingMergeTree
PARTITION BY toYYYYMM(day)
ORDER BY (day, machine, id);

CREATE TABLE IF NOT EXISTS records (
    machine LowCardinality(String),
    file String,
    line UInt32,
    time String,
    host LowCardinality(String),
    record String,
    day Date MATERIALIZED toDate(substring(time, 1, 10)),
    at DateTime('UTC') MATERIALIZED parseDateTimeBestEffort(time)
)
ENGINE = ReplacingMergeTree
PARTITION BY toYYYYMM(day)
ORDER BY (day, machine, file, line);
