-- compatible with: 0054

-- Skills that operators merged into others. The ID of a merged skill stays valid and means the surviving skill. No other row is changed by
-- a merge, so that it can be undone: rows keep the number that was recorded, and queries compare skills with the functions below.
create table skill_merges (
  skill_number integer primary key references skills,
  -- The skill that the operator chose.
  into_number integer not null references skills,
  -- The last skill of the chain, if that skill was merged into another one later. It is never merged itself.
  survivor_number integer not null references skills,
  merged_at timestamptz not null,
  check (skill_number <> into_number and skill_number <> survivor_number)
);
create index skill_merges_survivor on skill_merges (survivor_number);

-- Replaces merged skills by those that survive, without duplicates.
create function surviving_skills(integer[]) returns integer[]
language sql stable
as $$
  select coalesce(array_agg(distinct coalesce(survivor_number, input.number)), '{}')
  from unnest($1) as input (number) left join skill_merges on skill_number = input.number
$$;

-- Returns all numbers that mean one of these skills: the skills, their survivors, and all skills that were merged into these.
create function same_skills(integer[]) returns integer[]
language sql stable
as $$
  select coalesce(array_agg(distinct number), '{}') from (
    select unnest(surviving_skills($1)) as number
    union all
    select skill_number from skill_merges where survivor_number = any (surviving_skills($1))) same
$$;
