-- compatible with: 0054

-- Names and aliases that earlier releases of the taxonomy gave to the row. They stay aliases of its skill. The newest come first.
alter table skill_sources add column former_labels text[] not null default '{}';
