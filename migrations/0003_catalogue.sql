-- The skill catalogue: master skills, sub-skills, skills, and which taxonomy each of them came from.

-- One row. Whoever changes the catalogue locks it first, so that two writers never give one name to two skills, and raises
-- it in the same transaction, so that running servers take the change up.
create table catalogue_version (
  only_row boolean primary key default true check (only_row),
  version bigint not null default 0,
  -- Of the text files of the built-in catalogue that were loaded last.
  built_in_checksum text
);
insert into catalogue_version default values;

create function next_catalogue_version() returns bigint language plpgsql as $$
declare
  raised bigint;
begin
  update catalogue_version set version = version + 1 returning version into raised;
  perform pg_notify('catalogue_changed', '');
  return raised;
end $$;

-- Built-in numbers are fixed in the text files and stay below these.
create sequence master_skill_numbers as integer start 1000;
create sequence sub_skill_numbers as integer start 100000;
create sequence skill_numbers as integer start 1000000;

create table master_skills (
  number integer primary key,
  name text not null,
  source text not null,
  source_id text not null,
  unique (source, source_id)
);

create table sub_skills (
  number integer primary key,
  master_number integer not null references master_skills,
  name text not null,
  source text not null,
  source_id text not null,
  unique (source, source_id)
);
create index sub_skills_master on sub_skills (master_number);

create table skills (
  number integer primary key,
  sub_number integer not null references sub_skills,
  name text not null,
  -- The name without case and white space: no two skills share it.
  name_key text not null unique,
  description text not null,
  aliases text[] not null,
  -- Whether questions can be made for it.
  verifiable boolean not null,
  created_at timestamptz not null,
  updated_at timestamptz not null
);
create index skills_sub on skills (sub_number);

-- What each source says of a skill. Several may name one skill: the owner gives name, description and place; names and
-- aliases of all of them are the skill's aliases, and it is verifiable when one of them says so.
create table skill_sources (
  source text not null check (source in ('builtin', 'esco', 'onet', 'lightcast', 'csv', 'request')),
  source_id text not null,
  skill_number integer not null references skills,
  owner boolean not null,
  name text not null,
  aliases text[] not null,
  verifiable boolean not null,
  primary key (source, source_id)
);
create index skill_sources_skill on skill_sources (skill_number);
create unique index skill_sources_owner on skill_sources (skill_number) where owner;
