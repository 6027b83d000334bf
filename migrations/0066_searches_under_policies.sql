-- compatible with: 0054

-- PostgreSQL uses no index on an array of a table with a policy: the operators of arrays are not leakproof, so that the policy has to check
-- all rows before them. These functions run with the rights of the owner of the tables, for whom no policy applies, and compare the
-- organisation and the mode of the session themselves.
create function candidates_with_tokens(text, text, bigint[]) returns setof text
language sql stable security definer set search_path = public, pg_temp rows 100
as $$
  select candidate_id from candidate_list where org_id = $1 and mode = $2 and tokens @> $3
    and current_setting('attestry.org', true) in ('*', $1) and current_setting('attestry.mode', true) in ('*', $2)
$$;

create function mails_of_person(text) returns setof text
language sql stable security definer set search_path = public, pg_temp rows 10
as $$
  select mail_id from mails where person_ids @> array[$1]
    and (current_setting('attestry.org', true) = '*' or org_id = current_setting('attestry.org', true))
$$;

create function credentials_with_item(text) returns setof text
language sql stable security definer set search_path = public, pg_temp rows 100
as $$
  select credential_id from credentials where revoked_at is null and item_ids @> array[$1]
    and (current_setting('attestry.org', true) = '*' or org_id = current_setting('attestry.org', true))
    and (current_setting('attestry.mode', true) = '*' or mode = current_setting('attestry.mode', true))
$$;

create function mandates_with_pending_skill(text) returns setof text
language sql stable security definer set search_path = public, pg_temp rows 100
as $$
  select mandate_id from mandates where pending_skills <> '{}' and pending_skills @> array[$1]
    and (current_setting('attestry.org', true) = '*' or org_id = current_setting('attestry.org', true))
    and (current_setting('attestry.mode', true) = '*' or mode = current_setting('attestry.mode', true))
$$;

create function sessions_with_skill(integer) returns setof text
language sql stable security definer set search_path = public, pg_temp rows 1000
as $$
  select verification_id from verification_sessions where skill_numbers <> '{}' and skill_numbers @> array[$1]
    and (current_setting('attestry.org', true) = '*' or org_id = current_setting('attestry.org', true))
    and (current_setting('attestry.mode', true) = '*' or mode = current_setting('attestry.mode', true))
$$;

revoke execute on function candidates_with_tokens, mails_of_person, credentials_with_item, mandates_with_pending_skill, sessions_with_skill
  from public;
