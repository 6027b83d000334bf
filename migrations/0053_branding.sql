-- compatible with: 0047

-- The name, logo and colour of an organisation on the pages and emails that candidates, students, reviewers and hiring managers see.
-- Applies to both modes. An organisation without a row has the look of Attestry.
create table branding (
  org_id text primary key references organisations,
  -- Null for the name of the organisation.
  display_name text,
  logo bytea check (length(logo) <= 102400),
  logo_type text check (logo_type in ('image/png', 'image/jpeg', 'image/webp')),
  logo_width integer check (logo_width between 1 and 1024),
  logo_height integer check (logo_height between 1 and 1024),
  -- Part of the logo's URL, so that browsers can cache it for a long time.
  logo_hash text,
  colour text check (colour ~ '^#[0-9a-f]{6}$'),
  reply_to text,
  footer text,
  homepage text,
  updated_at timestamptz not null,
  constraint branding_logo check (num_nulls(logo, logo_type, logo_width, logo_height, logo_hash) in (0, 5))
);
