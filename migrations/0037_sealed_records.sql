-- Seals the personal values of students, reviewers, emails and orders of applicant tracking systems, as 0036 does for candidates. Plain
-- columns stay for the rows of earlier versions until the first start has sealed them.
-- Not compatible with earlier versions, which read and write the plain columns.

-- The second person whose values an event contains, such as the reviewer of a student.
alter table event_outbox add column other_person_id text;
alter table events add column other_person_id text;

-- `student`, `items` and `skills` without personal values, and all of them sealed.
alter table verification_sessions add column person_id text, add column personal bytea, add column email_index bytea;
create index verification_sessions_person on verification_sessions (person_id, verification_id);
create index verification_sessions_unsealed on verification_sessions (verification_id) where person_id is null;

-- `personal`: the reviewer. `words`: comments and reasons, sealed with the keys of the reviewer and of the student.
alter table verification_reviews
  add column person_id text,
  add column personal bytea,
  add column words bytea,
  alter column name drop not null,
  alter column email drop not null,
  alter column company drop not null;
create index verification_reviews_person on verification_reviews (person_id, verification_id);
create index verification_reviews_unsealed on verification_reviews (verification_id) where person_id is null;

-- The people whose values an email contains, the recipient first. Emails to members and operators have none.
alter table mails
  add column person_ids text[],
  add column personal bytea,
  alter column to_address drop not null,
  alter column content drop not null;
create index mails_people on mails using gin (person_ids) where person_ids is not null;

-- Sealed with the key of the candidate.
alter table ats_orders add column personal bytea, alter column candidate_name drop not null;
alter table ats_reports add column personal bytea;
create index ats_orders_unsealed on ats_orders (order_id) where candidate_name is not null;

-- `credential`, `jwt` and the title in `facts` are sealed; `credential` is null after the content was deleted.
alter table credentials add column person_id text, add column personal bytea;
create index credentials_person on credentials (person_id) where person_id is not null;
create index credentials_unsealed on credentials (credential_id) where person_id is null and credential is not null;

-- Tables whose rows of earlier versions the first start has not sealed yet. A new database has none.
create table unsealed_tables (name text primary key);
insert into unsealed_tables (name)
select name from unnest(array['candidates', 'messages', 'opt_outs', 'verification_sessions', 'verification_reviews', 'endorsements',
  'ats_orders', 'credentials', 'events', 'event_outbox', 'mails']) as name
where exists (select from organisations);
