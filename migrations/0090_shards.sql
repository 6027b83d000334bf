-- compatible with: 0072

-- Work that must be done in order for each organisation is divided into 16 shards. An organisation belongs to one of them, by a hash of its
-- ID. Each shard has a lock of its own, so that several processes work on different shards at the same time.
--
-- A column instead of an index on the expression: the hash function is not leakproof, so that the policies would exclude such an index. The
-- tables are short, because rows are deleted as soon as they have been processed.
alter table event_outbox add column shard smallint not null
  generated always as ((hashtextextended(org_id, 0) & 15)::smallint) stored;
create index event_outbox_shard on event_outbox (shard, event_id);

alter table analytics_changes add column shard smallint not null
  generated always as ((hashtextextended(org_id, 0) & 15)::smallint) stored;
create index analytics_changes_shard on analytics_changes (shard, change_id);

alter table message_changes add column shard smallint not null
  generated always as ((hashtextextended(org_id, 0) & 15)::smallint) stored;
create index message_changes_shard on message_changes (shard, change_id);
