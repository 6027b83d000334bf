-- compatible with: 0054
-- without a transaction

-- A search within a campaign, or with another filter, compares the values of the filters in the same index as the tokens. Otherwise
-- PostgreSQL would read all candidates with a frequent name, or all candidates of the campaign. No value may occur in two of the columns.
drop index concurrently if exists candidate_list_search;
create index concurrently candidate_list_search on candidate_list using gin (tokens,
  (array[campaign_id, mandate_id, status, verdict, decision, case when to_call then 'to_call' end]));

-- Returns the candidates that have all tokens and all values. See candidates_with_tokens in migration 0066.
create or replace function candidates_with_tokens_and_values(text, text, bigint[], text[]) returns setof text
language sql stable security definer set search_path = public, pg_temp rows 100
as $$
  select candidate_id from candidate_list where org_id = $1 and mode = $2 and tokens @> $3
    and array[campaign_id, mandate_id, status, verdict, decision, case when to_call then 'to_call' end] @> $4
    and current_setting('attestry.org', true) in ('*', $1) and current_setting('attestry.mode', true) in ('*', $2)
$$;
revoke execute on function candidates_with_tokens_and_values from public;

-- Last, so that a repeated migration never leaves searches without an index.
drop index concurrently if exists candidate_list_tokens;
