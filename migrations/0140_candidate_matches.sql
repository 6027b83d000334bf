-- compatible with: 0054

-- Returns at most $10 candidates that have all tokens of $3 or all of $4, and all values of $5; without tokens, candidates that have the
-- values. See candidates_with_tokens in migration 0066 and candidates_with_tokens_and_values in migration 0072, which earlier versions call.
-- It also compares the columns that the index does not contain, and returns the columns that lists are sorted by, so that a search reads
-- each candidate once.
create function candidate_matches(text, text, bigint[], bigint[], text[], boolean, text, text[], timestamptz, integer)
returns table (candidate_id text, listed_at timestamptz, enrolled_at timestamptz, completed_at timestamptz)
language sql stable security definer set search_path = public, pg_temp rows 1000
as $$
  select l.candidate_id, l.listed_at, l.enrolled_at, l.completed_at from candidate_list l
  where $3 is not null and cardinality($5) = 0 and l.org_id = $1 and l.mode = $2 and (l.tokens @> $3 or l.tokens @> $4)
    and (not $6 or l.decision is null)
    and ($7 is null or case when $7 = 'none' then l.assigned_to is null else l.assigned_to = $7 end)
    and ($8 is null or l.campaign_id = any ($8)) and ($9 is null or l.listed_at > $9)
    and current_setting('attestry.org', true) in ('*', $1) and current_setting('attestry.mode', true) in ('*', $2)
  union all
  select l.candidate_id, l.listed_at, l.enrolled_at, l.completed_at from candidate_list l
  where $3 is not null and cardinality($5) > 0 and l.org_id = $1 and l.mode = $2
    and (l.tokens @> $3 and array[l.campaign_id, l.mandate_id, l.status, l.verdict, l.decision, case when l.to_call then 'to_call' end] @> $5
      or l.tokens @> $4 and array[l.campaign_id, l.mandate_id, l.status, l.verdict, l.decision, case when l.to_call then 'to_call' end] @> $5)
    and (not $6 or l.decision is null)
    and ($7 is null or case when $7 = 'none' then l.assigned_to is null else l.assigned_to = $7 end)
    and ($8 is null or l.campaign_id = any ($8)) and ($9 is null or l.listed_at > $9)
    and current_setting('attestry.org', true) in ('*', $1) and current_setting('attestry.mode', true) in ('*', $2)
  union all
  select l.candidate_id, l.listed_at, l.enrolled_at, l.completed_at from candidate_list l
  where $3 is null and cardinality($5) > 0 and l.org_id = $1 and l.mode = $2
    and array[l.campaign_id, l.mandate_id, l.status, l.verdict, l.decision, case when l.to_call then 'to_call' end] @> $5
    and (not $6 or l.decision is null)
    and ($7 is null or case when $7 = 'none' then l.assigned_to is null else l.assigned_to = $7 end)
    and ($8 is null or l.campaign_id = any ($8)) and ($9 is null or l.listed_at > $9)
    and current_setting('attestry.org', true) in ('*', $1) and current_setting('attestry.mode', true) in ('*', $2)
  limit $10
$$;
revoke execute on function candidate_matches from public;
