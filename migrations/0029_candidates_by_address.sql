-- compatible with: 0026
-- With the ID, which grows with the time of enrolment, as the last column, the newest candidates of a person are found without a sort.

create index candidates_of_phone on candidates (org_id, mode, phone, candidate_id) where phone is not null;
drop index candidates_by_phone;
create index candidates_of_email on candidates (org_id, mode, lower(email), candidate_id) where email is not null;
drop index candidates_by_mail;
