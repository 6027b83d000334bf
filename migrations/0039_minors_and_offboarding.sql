-- compatible with: 0032

-- Whether the student stated an age below 18; null if no age was stated. The age itself is not stored.
alter table verification_sessions add column is_minor boolean;

-- Consents of the guardians of students below 18.
create table guardian_consents (
  verification_id text primary key references verification_sessions,
  org_id text not null references organisations,
  mode text not null check (mode in ('test', 'live')),
  -- The name and email address of the guardian, sealed with the key of the student; null if there is none.
  personal bytea,
  -- Message authentication code of the code that was emailed to the guardian.
  code_mac bytea not null,
  attempts integer not null default 0,
  -- Number of emails that were sent.
  emails integer not null default 1,
  requested_at timestamptz not null,
  expires_at timestamptz not null,
  notice_version integer not null,
  language text not null,
  given_at timestamptz
);

-- When an organisation was erased at the end of its contract.
alter table organisations add column erased_at timestamptz;
