-- compatible with: 0054
-- without a transaction

-- A new candidate has no list position and no result, so that no list of results contains it. Without it, the three indexes make an
-- enrolment faster. All queries that use them contain one of the two conditions. Each statement can be repeated.
drop index concurrently if exists candidate_results;
create index concurrently candidate_results on candidate_progress (org_id, mode, listed_at, result_id)
  where listed_at is not null or status <> 'pending';
drop index concurrently if exists candidate_results_of_campaign;
create index concurrently candidate_results_of_campaign on candidate_progress (campaign_id, listed_at, result_id)
  where listed_at is not null or status <> 'pending';
drop index concurrently if exists candidate_results_of_mandate;
create index concurrently candidate_results_of_mandate on candidate_progress (mandate_id, listed_at, result_id)
  where listed_at is not null or status <> 'pending';

-- Last, so that a repeated migration never leaves the lists without indexes.
drop index concurrently if exists candidate_progress_listed;
drop index concurrently if exists candidate_progress_of_campaign;
drop index concurrently if exists candidate_progress_of_mandate;
