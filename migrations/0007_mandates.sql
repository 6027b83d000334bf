-- Workflows, the mandates that follow them, and what was prepared for each.

create table workflows (
  workflow_id text primary key,
  org_id text not null references organisations,
  mode text not null check (mode in ('test', 'live')),
  name text not null,
  description text,
  default_methods text[] not null,
  channels text[] not null,
  languages text[] not null,
  follow_ups jsonb not null,
  created_via text not null check (created_via in ('api', 'playground')),
  status text not null check (status in ('active', 'archived')),
  created_at timestamptz not null,
  updated_at timestamptz not null
);
create index workflows_owner on workflows (org_id, mode, workflow_id);

-- A row that is `preparing` is at the same time the job to prepare it: it cannot be lost, and there is never one too many.
create table mandates (
  mandate_id text primary key,
  org_id text not null,
  mode text not null check (mode in ('test', 'live')),
  -- Locked against archiving by whoever adds a mandate, which is all that a foreign key would see to.
  workflow_id text not null,
  job_id text,
  status text not null check (status in ('preparing', 'ready', 'failed', 'archived')),
  flow_version integer not null default 1,
  -- Grows with every change, so that a late event never overwrites a newer state.
  version integer not null default 1,
  -- In force: those of the body, or the workflow's when it was accepted.
  methods text[] not null,
  -- The mandate as JSON, normalised: equal mandates have equal texts.
  body text not null,
  -- The last accepted body, where a pending skill that was resolved has made `body` another one.
  accepted_body text,
  warnings text[] not null,
  -- What there is to say about the languages of the questions.
  language_warnings text[] not null,
  failure text,
  created_via text not null check (created_via in ('api', 'playground')),
  -- When it was changed, as far as the last hour goes.
  changes timestamptz[] not null default '{}',
  -- The keys of the pending skills' names.
  pending_skills text[] not null default '{}',
  -- While preparing: not before this time. Whoever prepares it moves the time on, for as long as that is alive.
  prepare_at timestamptz not null,
  attempts integer not null default 0,
  created_at timestamptz not null,
  updated_at timestamptz not null
);
create index mandates_owner on mandates (org_id, mode, mandate_id);
create index mandates_status on mandates (org_id, mode, status, mandate_id);
create index mandates_workflow on mandates (workflow_id, mandate_id) include (status);
create index mandates_job on mandates (org_id, mode, job_id, mandate_id) where job_id is not null;
create unique index mandates_one_a_job on mandates (org_id, mode, job_id) where job_id is not null and status <> 'archived';
create index mandates_to_prepare on mandates (prepare_at) where status = 'preparing';
create index mandates_pending_skills on mandates using gin (pending_skills) where pending_skills <> '{}';

-- The questions of a mandate, a row for each version of its flow: a candidate keeps the version that he started with.
create table mandate_flows (
  mandate_id text not null,
  flow_version integer not null,
  flow text not null,
  created_at timestamptz not null,
  primary key (mandate_id, flow_version)
);
