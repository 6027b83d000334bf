-- Endorsements as a graph between mailboxes, the evidence they give, and the rings that were found in the graph.

-- One row per submitted review with at least one endorsed skill.
create table endorsements (
  verification_id text primary key references verification_sessions,
  org_id text not null references organisations,
  mode text not null check (mode in ('test', 'live')),
  user_id text not null references verification_students,
  -- The mailbox in its shortest spelling, so that aliases are one node of the graph.
  reviewer_mailbox text not null,
  student_mailbox text not null,
  endorsement_type text not null,
  -- Codes of the facts that were known when the review was submitted.
  facts text[] not null,
  endorsed_at timestamptz not null
);
create index endorsements_by_reviewer on endorsements (mode, reviewer_mailbox, endorsed_at);
create index endorsements_by_student on endorsements (mode, student_mailbox);
create index endorsements_by_user on endorsements (user_id);

-- Keyed hashes of the network and the browser of students and reviewers, deleted after 90 days.
create table review_origins (
  verification_id text not null references verification_sessions,
  user_id text not null references verification_students,
  role text not null check (role in ('student', 'reviewer')),
  network_hash bytea not null,
  device_hash bytea not null,
  seen_at timestamptz not null,
  primary key (verification_id, role, device_hash)
);
create index review_origins_by_user on review_origins (user_id);
create index review_origins_age on review_origins (seen_at);

-- Groups of people who endorse each other, for the operator to look at.
create table endorsement_rings (
  ring_id text primary key,
  mode text not null check (mode in ('test', 'live')),
  kind text not null check (kind in ('pair', 'cycle', 'cluster')),
  members text[] not null,
  score real not null,
  -- Counts that explain the finding.
  evidence jsonb not null,
  -- dismissed: the operator decided that the group is harmless. ended: the latest run did not find it again.
  status text not null default 'open' check (status in ('open', 'dismissed', 'ended')),
  note text,
  noted_by text,
  noted_at timestamptz,
  found_at timestamptz not null,
  updated_at timestamptz not null
);
create index endorsement_rings_members on endorsement_rings using gin (members) where status = 'open';
create index endorsement_rings_by_status on endorsement_rings (status, mode, score desc);

-- Reviews that were submitted before this table existed are added in batches by a job.
create index verification_reviews_submitted on verification_reviews (submitted_at) where cardinality(endorsed) > 0;
