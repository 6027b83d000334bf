-- The lists of the console: filters, searches and sorts over all rows, and the notes of recruiters.

-- A narrow copy of the results, in the order of their list positions, with which candidates are filtered, counted and sorted.
create table candidate_list (
  candidate_id text primary key,
  org_id text not null,
  mode text not null check (mode in ('test', 'live')),
  campaign_id text not null,
  mandate_id text not null,
  result_id text not null,
  status text not null check (status in ('pending', 'completed', 'declined', 'failed')),
  -- Of a completed result.
  verdict text check (verdict in ('qualified', 'not_qualified', 'undecided')),
  -- Whether the candidate is qualified and has not turned the job down.
  to_call boolean not null,
  enrolled_at timestamptz not null,
  completed_at timestamptz,
  -- The list position of the result that this row was made of.
  listed_at timestamptz not null,
  -- Keyed hashes of the beginnings of names and the ends of phone numbers; see search-tokens.ts. No names or numbers.
  tokens bigint[] not null,
  decision text check (decision in ('called', 'shortlisted', 'rejected')),
  -- Sealed with the key of the person.
  note bytea,
  decided_by text,
  decided_at timestamptz
);
create index candidate_list_updated on candidate_list (org_id, mode, listed_at, candidate_id);
create index candidate_list_enrolled on candidate_list (org_id, mode, enrolled_at, candidate_id);
create index candidate_list_completed on candidate_list (org_id, mode, completed_at, candidate_id) where completed_at is not null;
create index candidate_list_status on candidate_list (org_id, mode, status, listed_at, candidate_id);
create index candidate_list_verdict on candidate_list (org_id, mode, verdict, listed_at, candidate_id) where verdict is not null;
create index candidate_list_to_call on candidate_list (org_id, mode, listed_at, candidate_id) where to_call;
create index candidate_list_decision on candidate_list (org_id, mode, decision, listed_at, candidate_id) where decision is not null;
create index candidate_list_campaign on candidate_list (campaign_id, listed_at, candidate_id);
create index candidate_list_mandate on candidate_list (mandate_id, listed_at, candidate_id);
create index candidate_list_tokens on candidate_list using gin (tokens);

-- The last result that was copied to the list of an organisation and mode.
create table candidate_list_positions (
  org_id text not null,
  mode text not null check (mode in ('test', 'live')),
  listed_at timestamptz not null,
  result_id text not null,
  primary key (org_id, mode)
);

-- Filters of a list that a member saved.
create table console_views (
  view_id text primary key,
  org_id text not null references organisations,
  -- The page, such as 'results', and its query string.
  page text not null,
  query text not null,
  name text not null,
  created_by text not null,
  created_at timestamptz not null,
  unique (org_id, page, name)
);

create index audit_log_person on audit_log (org_id, lower(personal -> 'who' ->> 'value'), audit_id);
create index audit_log_subject on audit_log (subject, audit_id) where subject is not null;
