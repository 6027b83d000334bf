-- compatible with: 0023

-- Whether the candidate asked for the next contact or, if it has been made, for the last one. A reply resets it.
alter table contacts add column requested boolean not null default false;

-- Whether the candidate asked for this contact. Such a contact is not a follow-up of the workflow.
alter table messages add column requested boolean not null default false;
