-- compatible with: 0054

-- Origins of the websites that may show pages of an organisation in a frame.
create table embed_origins (
  org_id text not null references organisations,
  mode text not null check (mode in ('test', 'live')),
  origins text[] not null,
  updated_at timestamptz not null,
  primary key (org_id, mode)
);

-- Pages that an organisation shows in a frame on one of its websites. The token in the URL opens the page once, and is then replaced by the
-- token of the opened page.
create table embed_sessions (
  embed_id text primary key,
  org_id text not null references organisations,
  mode text not null check (mode in ('test', 'live')),
  view text not null check (view in ('candidate', 'student', 'report')),
  -- ID of the candidate, or of the verification in the view of a student.
  target_id text not null,
  person_id text not null,
  origin text not null,
  language text,
  token_hash bytea not null unique,
  created_at timestamptz not null,
  expires_at timestamptz not null,
  opened_at timestamptz,
  page_token_hash bytea unique,
  page_expires_at timestamptz,
  ended_at timestamptz,
  ended_reason text check (ended_reason in ('revoked', 'erased')),
  check ((ended_at is null) = (ended_reason is null)),
  check ((opened_at is null) = (page_token_hash is null) and (opened_at is null) = (page_expires_at is null))
);
create index embed_sessions_of_target on embed_sessions (target_id);
create index embed_sessions_of_person on embed_sessions (person_id);
create index embed_sessions_of_organisation on embed_sessions (org_id, mode, expires_at);
create index embed_sessions_expired on embed_sessions (expires_at);
