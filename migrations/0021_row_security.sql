-- compatible with: 0020
-- The most connections that a process opens, to compare with the limit of the database.
alter table processes add column max_connections integer;
