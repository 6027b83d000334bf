-- The list behind every number of the analytics: how often each candidate counts in it, written with the counts themselves.
-- The campaign tells the organisation and mode. A list is read campaign by campaign: with the counter first, a campaign in which
-- nobody counts costs a look at a page that is at hand, however many candidates it has.
create table analytics_candidates (
  campaign_id text not null,
  -- As in the changes.
  counter text not null,
  day date not null,
  candidate_id text not null,
  -- Zero for a language that the candidate left.
  amount integer not null,
  primary key (counter, campaign_id, day, candidate_id)
);
