-- compatible with: 0054

-- Every import is recorded, also those of the command line.
alter table catalogue_imports drop constraint catalogue_imports_format_check;
alter table catalogue_imports add constraint catalogue_imports_format_check check (format in ('csv', 'lightcast', 'esco', 'onet'));
alter table catalogue_imports
  -- Version of the catalogue after the import, stored in its transaction. Null: not completed, or completed before this column existed.
  add column version bigint,
  -- Number of rows that the import added or changed.
  add column changed_rows integer not null default 0,
  add column undone_at timestamptz,
  add column undone_by text;
create unique index catalogue_imports_version on catalogue_imports (version) where version is not null and changed_rows > 0;

-- The rows that an import added or changed, with their previous values, so that it can be undone.
create table skill_import_changes (
  import_id text not null references catalogue_imports on delete cascade,
  kind text not null check (kind in ('master_skill', 'sub_skill', 'skill', 'source')),
  -- For a source, the number of its skill.
  number integer not null,
  -- ID in the taxonomy, for a source only.
  source_id text not null default '',
  -- The previous values that the import changed. Null: the import added the row.
  before jsonb,
  primary key (import_id, kind, number, source_id)
);

-- Skills and groups that an undone import had added. Their IDs stay valid, because partners store them.
alter table skills add column withdrawn boolean not null default false;
alter table sub_skills add column withdrawn boolean not null default false;
alter table master_skills add column withdrawn boolean not null default false;
-- The name of a withdrawn skill is free for other skills.
alter table skills drop constraint skills_name_key_key;
create unique index skills_name_key on skills (name_key) where not withdrawn;
create index skills_withdrawn_name_key on skills (name_key) where withdrawn;
