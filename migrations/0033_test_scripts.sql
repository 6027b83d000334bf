-- compatible with: 0032

-- Scripts of TEST mode: how a simulated candidate, student or reviewer behaves.

alter table candidates add column test_script jsonb check (test_script is null or mode = 'test');

alter table verification_sessions
  add column test_script jsonb check (test_script is null or mode = 'test'),
  -- The next action of a scripted student.
  add column test_student_at timestamptz;
create index verification_sessions_test_students on verification_sessions (test_student_at) where test_student_at is not null;
