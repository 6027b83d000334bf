-- compatible with: 0032

-- Notices, consents, requests of people about their data, and retention periods.

-- How an organisation handles personal data. An organisation without a row has the defaults.
create table privacy_settings (
  org_id text primary key references organisations,
  -- The contact for complaints, and for questions about personal data. Shown in the notice.
  grievance_name text,
  grievance_email text,
  grievance_phone text,
  privacy_email text,
  postal_address text,
  -- Whether a student below 18 needs the consent of a guardian.
  minors text not null default 'off' check (minors in ('off', 'guardian_consent')),
  -- Days after the end of a campaign in which the links of its candidates still work.
  link_days integer not null default 30 check (link_days between 0 and 365),
  -- While set, nothing of the organisation is erased by retention periods.
  legal_hold_at timestamptz,
  legal_hold_reason text,
  updated_at timestamptz not null,
  check ((legal_hold_at is null) = (legal_hold_reason is null))
);

-- Consents to the use of personal data, one for each candidacy, session and review.
create table consents (
  consent_id text primary key,
  org_id text not null references organisations,
  mode text not null check (mode in ('test', 'live')),
  subject_kind text not null check (subject_kind in ('candidate', 'session', 'review')),
  subject_id text not null,
  person_id text,
  -- The version and the language of the notice that the person agreed to.
  notice_version integer not null,
  language text not null,
  given_at timestamptz not null,
  withdrawn_at timestamptz,
  unique (subject_kind, subject_id)
);
create index consents_person on consents (person_id);
create index consents_owner on consents (org_id, mode, consent_id);

-- Requests that people make on the pages. Each is confirmed with a code that is sent to the phone number or mailbox that is stored.
create table privacy_requests (
  request_id text primary key,
  org_id text not null references organisations,
  mode text not null check (mode in ('test', 'live')),
  person_id text not null,
  subject_kind text not null check (subject_kind in ('candidate', 'session', 'review')),
  subject_id text not null,
  action text not null check (action in ('export', 'correct', 'erase', 'withdraw')),
  channel text not null check (channel in ('phone', 'email')),
  -- Message authentication codes of the code, and of the code that was sent to a new address. They reveal neither code nor address.
  code_mac bytea not null,
  new_code_mac bytea,
  attempts integer not null default 0,
  created_at timestamptz not null,
  expires_at timestamptz not null,
  confirmed_at timestamptz
);
create index privacy_requests_owner on privacy_requests (org_id, mode, request_id);
create index privacy_requests_person on privacy_requests (person_id, created_at);

-- Retention periods that differ from the defaults.
create table retention_periods (
  org_id text not null references organisations,
  class text not null,
  days integer not null check (days > 0),
  updated_at timestamptz not null,
  primary key (org_id, class)
);

-- Bounds that the operator sets for the retention periods of all organisations, if they differ from the defaults.
create table retention_bounds (
  class text primary key,
  min_days integer not null check (min_days > 0),
  max_days integer not null check (max_days >= min_days),
  updated_at timestamptz not null
);

-- When the texts of the messages, and the answers in own words, were erased at the end of their retention periods.
alter table candidate_progress
  add column messages_erased_at timestamptz,
  add column answers_erased_at timestamptz;
create index candidate_progress_messages_due on candidate_progress (completed_at)
  where status <> 'pending' and messages_erased_at is null;
create index candidate_progress_answers_due on candidate_progress (completed_at)
  where status <> 'pending' and answers_erased_at is null;
create index mails_age on mails (created_at) where org_id is not null;

alter table verification_sessions add column if not exists person_id text;
alter table verification_reviews add column if not exists person_id text;
