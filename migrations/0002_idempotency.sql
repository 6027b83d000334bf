-- First answers to calls with an Idempotency-Key, kept for 24 hours. Written in the transaction of the effect.
create table idempotency_records (
  key_id text not null,
  idempotency_key text not null,
  fingerprint bytea not null,
  status integer not null,
  -- The answer's body as JSON text: in the clear, or encrypted where it holds a secret.
  body text,
  sealed_body bytea,
  created_at timestamptz not null,
  primary key (key_id, idempotency_key),
  check ((body is null) <> (sealed_body is null))
);
create index idempotency_records_age on idempotency_records (created_at);

-- Rate-limit counters of windows of an hour or longer, written behind by processes that count in memory.
create table limit_counters (
  key_id text not null,
  name text not null,
  value jsonb not null,
  expires_at timestamptz not null,
  primary key (key_id, name)
);
create index limit_counters_expiry on limit_counters (expires_at);
