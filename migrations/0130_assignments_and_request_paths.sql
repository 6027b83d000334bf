-- compatible with: 0054
-- without a transaction

-- The member who works on a candidate.
alter table candidate_list add column if not exists assigned_to text;
drop index concurrently if exists candidate_list_assigned;
create index concurrently candidate_list_assigned on candidate_list (org_id, mode, assigned_to, listed_at, candidate_id)
  where assigned_to is not null;

-- The path with the IDs of records in place of the parameters. Other values remain parameter names, because they can be personal. Null
-- for requests that an earlier version logged.
alter table request_log add column if not exists path text;

-- The subject of a notification about assignments is the member to whom candidates were assigned. Other members do not see it.
alter table notifications drop constraint if exists notifications_kind_check;
alter table notifications add constraint notifications_kind_check
  check (kind in ('results', 'failures', 'credits', 'skill_requests', 'assignments')) not valid;
alter table notifications validate constraint notifications_kind_check;
update notification_settings set kinds = array_append(kinds, 'assignments') where not 'assignments' = any (kinds);
