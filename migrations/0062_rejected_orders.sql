-- compatible with: 0054
-- without a transaction

-- The person of a rejected order, whose key seals its values. Null for an order with a candidate: its person is that of the candidate.
alter table ats_orders add column if not exists person_id text;
drop index concurrently if exists ats_orders_person;
create index concurrently ats_orders_person on ats_orders (person_id) where person_id is not null;
