-- compatible with: 0054

-- Links with which recruiters share the report of a candidate with people who have no account. A row is deleted when the person is erased.
create table report_links (
  link_id text primary key,
  org_id text not null references organisations,
  mode text not null check (mode in ('test', 'live')),
  candidate_id text not null,
  token_hash bytea not null unique,
  -- Email address of the member, or of the operator.
  created_by text not null,
  created_at timestamptz not null,
  expires_at timestamptz not null,
  revoked_at timestamptz,
  times_opened integer not null default 0,
  last_opened_at timestamptz
);
create index report_links_of_candidate on report_links (candidate_id, expires_at);
create index report_links_expired on report_links (expires_at);
