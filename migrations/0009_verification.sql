-- Verification sessions: a student's skills, endorsed by a person or shown in an assessment.

-- The same student of an organisation has the same id in all sessions.
create table verification_students (
  user_id text primary key,
  org_id text not null references organisations,
  mode text not null check (mode in ('test', 'live')),
  external_student_id text not null,
  created_at timestamptz not null,
  unique (org_id, mode, external_student_id)
);

create table verification_sessions (
  verification_id text primary key,
  org_id text not null references organisations,
  mode text not null check (mode in ('test', 'live')),
  user_id text not null references verification_students,
  token_hash bytea not null unique,
  -- A session or link that has ended counts as expired from that moment on; a job writes it down later.
  status text not null check (status in ('open', 'pending_review', 'in_assessment', 'completed', 'declined', 'failed', 'expired')),
  -- Grows with every change.
  version integer not null default 1,
  student json not null,
  -- Projects, work experiences and certificates as they were sent.
  items json not null,
  return_url text,
  skills json not null default '[]',
  skill_numbers integer[] not null default '{}',
  endorsement_type text not null default 'manager',
  method text check (method in ('human', 'assessment')),
  -- The chosen items, each as its kind and external id: what sources are compared by across sessions.
  sources text[] not null default '{}',
  -- Who makes questions at the moment, and until when that is believed.
  generating_by text,
  generating_until timestamptz,
  created_at timestamptz not null,
  updated_at timestamptz not null,
  expires_at timestamptz not null,
  completed_at timestamptz
);
create index verification_sessions_by_status on verification_sessions (org_id, mode, status, created_at desc);
create index verification_sessions_by_user on verification_sessions (user_id);
create index verification_sessions_ending on verification_sessions (expires_at) where status = 'open';

-- The reviewer of a session, the link that was sent, and what came of it.
create table verification_reviews (
  verification_id text primary key references verification_sessions,
  name text not null,
  email text not null,
  company text not null,
  website text,
  -- Every address that the session has had.
  addresses text[] not null,
  requested_at timestamptz,
  token_hash bytea,
  -- The link of the mail, sealed: reminders carry the same one.
  link bytea,
  sent_at timestamptz,
  expires_at timestamptz,
  remind_at timestamptz,
  submitted_at timestamptz,
  decisions json,
  endorsed integer[] not null default '{}',
  decline_reason text,
  check ((sent_at is null) = (link is null) and (sent_at is null) = (token_hash is null) and (sent_at is null) = (expires_at is null))
);
create index verification_reviews_to_remind on verification_reviews (remind_at) where remind_at is not null;
create index verification_reviews_ending on verification_reviews (expires_at) where submitted_at is null;

-- Sets of questions, with their keys: these are never sent anywhere.
create table verification_attempts (
  attempt_id text primary key,
  verification_id text not null references verification_sessions,
  user_id text not null references verification_students,
  -- Of the session, from 1.
  number integer not null,
  skill_numbers integer[] not null,
  questions json not null,
  fingerprints text[] not null,
  created_at timestamptz not null,
  -- Not submitted by then, it counts as failed.
  expires_at timestamptz not null,
  submitted_at timestamptz,
  correct integer,
  score integer,
  passed boolean,
  -- The skills that count as passed for the student.
  passed_skills integer[] not null default '{}',
  unique (verification_id, number),
  check ((submitted_at is null) = (score is null) and (submitted_at is null) = (passed is null))
);
create index verification_attempts_by_user on verification_attempts (user_id, created_at);
create index verification_attempts_open on verification_attempts (expires_at) where submitted_at is null;
