-- compatible with: 0021

-- The day of the last event that was sequenced, in a single row. The day of an event is never before the day of an earlier one,
-- even if the clock of a machine is set back.
create table event_ledger (
  is_only_row boolean primary key default true check (is_only_row),
  last_day date not null
);
insert into event_ledger (last_day) select coalesce(max(day), date '2000-01-01') from events;

-- Rows that an engine could not process, so that the other rows of their batch are processed without them. They are retried until
-- `retry_at` is null; then an operator retries or discards them.
create table dead_letters (
  queue text not null,
  -- The ID of the row: a candidate, a message, a mandate or an event.
  subject_id text not null,
  org_id text,
  mode text check (mode in ('test', 'live')),
  attempts integer not null,
  error text not null,
  first_failed_at timestamptz not null,
  last_failed_at timestamptz not null,
  retry_at timestamptz,
  primary key (queue, subject_id)
);
create index dead_letters_list on dead_letters (first_failed_at, queue, subject_id);

-- The number of mandates of each workflow that are not archived: the sum of its rows. There are several rows, so that transactions
-- that create mandates in one workflow rarely wait for each other.
create table workflow_mandate_counts (
  workflow_id text not null,
  shard integer not null,
  mandates bigint not null,
  primary key (workflow_id, shard)
);

create function count_workflow_mandates() returns trigger language plpgsql as $$
begin
  if tg_op = 'INSERT' then
    insert into workflow_mandate_counts as c (workflow_id, shard, mandates)
    select workflow_id, pg_backend_pid() % 32, count(*) from added where status <> 'archived'
    group by workflow_id order by workflow_id
    on conflict (workflow_id, shard) do update set mandates = c.mandates + excluded.mandates;
  elsif tg_op = 'DELETE' then
    insert into workflow_mandate_counts as c (workflow_id, shard, mandates)
    select workflow_id, pg_backend_pid() % 32, -count(*) from removed where status <> 'archived'
    group by workflow_id order by workflow_id
    on conflict (workflow_id, shard) do update set mandates = c.mandates + excluded.mandates;
  else
    insert into workflow_mandate_counts as c (workflow_id, shard, mandates)
    select workflow_id, pg_backend_pid() % 32, sum(difference) from (
      select workflow_id, 1 as difference from added where status <> 'archived'
      union all
      select workflow_id, -1 from removed where status <> 'archived'
    ) as changed
    group by workflow_id having sum(difference) <> 0 order by workflow_id
    on conflict (workflow_id, shard) do update set mandates = c.mandates + excluded.mandates;
  end if;
  return null;
end
$$;

create trigger mandates_inserted after insert on mandates
  referencing new table as added for each statement execute function count_workflow_mandates();
create trigger mandates_updated after update on mandates
  referencing old table as removed new table as added for each statement execute function count_workflow_mandates();
create trigger mandates_deleted after delete on mandates
  referencing old table as removed for each statement execute function count_workflow_mandates();

insert into workflow_mandate_counts (workflow_id, shard, mandates)
select workflow_id, 0, count(*) from mandates where status <> 'archived' group by workflow_id;
