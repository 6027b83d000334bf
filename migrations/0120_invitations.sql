-- compatible with: 0054

-- The member whom a link invites; null for the links that people request on the sign-in page. The link ends with the membership.
alter table console_links add column member_id text references console_members on delete cascade;
create index console_links_of_member on console_links (member_id) where member_id is not null;
