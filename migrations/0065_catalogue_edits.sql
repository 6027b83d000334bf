-- compatible with: 0054
-- without a transaction

-- Changes that operators make to skills. They are stored next to the values of the sources, so that they survive imports.
alter table skills
  -- Incremented by every change of the skill: a change that was prepared on an older revision is rejected.
  add column if not exists revision integer not null default 1,
  -- The operator's name. Null: the name of the owner in skill_sources.
  add column if not exists edited_name text,
  -- Aliases that operators added, and former names.
  add column if not exists added_aliases text[] not null default '{}',
  -- The same aliases without case and white space. A skill request for one of these names means this skill.
  add column if not exists added_alias_keys text[] not null default '{}',
  add column if not exists removed_aliases text[] not null default '{}',
  -- The operator's value of `verifiable`, the mark of skills that are often required. Null: that of the sources.
  add column if not exists edited_verifiable boolean,
  -- Whether the operator switched off the verification with questions of this deployment.
  add column if not exists verification_off boolean not null default false;
create index if not exists skills_added_aliases on skills using gin (added_alias_keys) where added_alias_keys <> '{}';

-- Reason of the operator for rejecting the request, for the partner.
alter table skill_requests add column if not exists rejection_reason text;

-- Count the use of a skill in all organisations.
drop index concurrently if exists verification_sessions_skills;
create index concurrently verification_sessions_skills on verification_sessions using gin (skill_numbers)
  where skill_numbers <> '{}';
drop index concurrently if exists skill_items_by_skill;
create index concurrently skill_items_by_skill on skill_items (skill_number) where status <> 'retired';
