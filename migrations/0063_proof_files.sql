-- compatible with: 0054

-- Photos and documents that students attach to a project, a job or a certificate, for their reviewer. Rows are deleted 30 days after the end of the
-- session, or when the student is erased.
create table proof_files (
  file_id text primary key,
  verification_id text not null references verification_sessions,
  org_id text not null references organisations,
  mode text not null check (mode in ('test', 'live')),
  -- The item, such as 'project p-1', as in verification_sessions.sources.
  source text not null,
  media_type text not null check (media_type in ('image/jpeg', 'image/png', 'image/webp', 'application/pdf')),
  size integer not null,
  -- The name of the file, sealed with the key of the student.
  personal bytea not null,
  -- The file, sealed with the key of the student.
  content bytea not null,
  created_at timestamptz not null
);
create index proof_files_of_verification on proof_files (verification_id);
