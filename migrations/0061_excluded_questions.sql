-- compatible with: 0054

-- Skill questions that a recruiter has excluded from one mandate: candidates are asked other ones.
create table excluded_questions (
  mandate_id text not null references mandates,
  item_id text not null,
  org_id text not null references organisations,
  mode text not null check (mode in ('test', 'live')),
  excluded_at timestamptz not null,
  primary key (mandate_id, item_id)
);
