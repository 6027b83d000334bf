-- Skills that users of the public catalogue have selected, and skills that partners miss in it.

create table selected_skills (
  selected_skill_id uuid primary key,
  user_id text not null,
  skill_number integer not null references skills,
  sub_number integer not null references sub_skills,
  master_number integer not null references master_skills,
  created_at timestamptz not null,
  updated_at timestamptz not null,
  -- Holds however many requests arrive at once.
  unique (user_id, skill_number)
);
create index selected_skills_by_user on selected_skills (user_id, created_at desc, selected_skill_id desc);
create index selected_skills_by_skill on selected_skills (skill_number);

create table skill_requests (
  request_id text primary key,
  org_id text not null references organisations,
  mode text not null check (mode in ('test', 'live')),
  name text not null,
  -- The name without case and white space, as skills have it.
  name_key text not null,
  context text,
  status text not null check (status in ('pending', 'approved', 'rejected', 'duplicate')),
  skill_number integer references skills,
  created_at timestamptz not null,
  updated_at timestamptz not null,
  check ((skill_number is not null) = (status in ('approved', 'duplicate')))
);
-- One open request a name, and one answer that the catalogue has it; decided requests may repeat.
create unique index skill_requests_standing on skill_requests (org_id, mode, name_key, status)
  where status in ('pending', 'duplicate');
create index skill_requests_by_owner on skill_requests (org_id, mode, request_id desc);
create index skill_requests_pending on skill_requests (name_key) where status = 'pending';
