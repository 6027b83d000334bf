import { sql } from 'kysely'
import type { Database, Tx } from './database.ts'

const ALL_PRIVILEGES = ['select', 'insert', 'update', 'delete']
/** Tables that the server does not change, or only adds rows to. */
const LIMITED_PRIVILEGES = new Map([
  ['public.schema_migrations', ['select']],
  ['public.audit_log', ['select', 'insert', 'update (personal)']], // personal values can be erased
  ['public.audit_chain', ['select', 'insert']],
  ['public.audit_heads', ['select', 'insert']],
])

export async function currentRole({ queries }: Pick<Database, 'queries'>): Promise<string> {
  const { rows } = await sql<{ role: string }>`select current_user as role`.execute(queries)
  return rows[0]!.role
}

/** Tables whose rows every session sees, and the reason. Each other table has a policy. */
export const TABLES_WITHOUT_POLICY: Record<string, string> = {
  access_version: 'a single row: the version of all keys',
  audit_chain: 'one hash chain over the audit entries of all organisations',
  audit_heads: 'one hash chain over the audit entries of all organisations',
  audit_unchained: 'IDs of the audit entries that wait for the hash chain',
  bank_items: 'built-in questions',
  blind_index_keys: 'encryption keys of the deployment',
  catalogue_imports: 'the shared catalogue of skills',
  catalogue_version: 'the shared catalogue of skills',
  console_authenticator_apps: 'belongs to a person, who can be a member of several organisations',
  console_challenges: 'belongs to a person who signs in, before an organisation is chosen',
  console_codes: 'belongs to a person who signs in, before an organisation is chosen',
  console_links: 'belongs to a person who signs in, before an organisation is chosen',
  console_operators: 'operators belong to no organisation',
  console_passkeys: 'belongs to a person, who can be a member of several organisations',
  console_recovery_codes: 'belongs to a person, who can be a member of several organisations',
  console_sessions: 'belongs to a person, who can be a member of several organisations',
  credential_link_requests: 'requests of people who lost a link, before it is known whether they have credentials',
  data_keys: 'encryption keys of the deployment',
  endorsement_rings: 'rings have members in several organisations',
  event_ledger: 'a single row: the state of the ledger',
  item_sets: 'built-in and AI questions, found by their hash and shared by organisations',
  item_statistics_progress: 'a single row: the state of a job',
  limit_counters: 'rate limits of keys and IP addresses, read and written by background work only',
  mail_day_counts: 'limits per recipient across organisations',
  mail_suppressions: 'a person who wants no emails gets none from any organisation',
  mailbox_hash_keys: 'encryption keys of the deployment',
  master_skills: 'the shared catalogue of skills',
  processes: 'server processes of the deployment',
  restored_erasures: 'erasures of all organisations that must be repeated after a restore',
  retention_bounds: 'bounds of the operator for all organisations',
  retired_mac_keys: 'encryption keys of the deployment',
  schema_migrations: 'migrations of the deployment',
  selected_skills: 'selections of the public API, which has no organisations',
  service_switch: 'a single row: the switch for all organisations',
  skill_import_changes: 'the shared catalogue of skills',
  skill_merges: 'the shared catalogue of skills',
  skill_sources: 'the shared catalogue of skills',
  skills: 'the shared catalogue of skills',
  sub_skills: 'the shared catalogue of skills',
  unsealed_tables: 'the state of the upgrade',
}

/**
 * Tables whose organisation is that of a row in another table, and the column that refers to it. The other row must exist before the
 * statement that inserts into the table: a policy does not see rows of the same statement.
 */
const CHILD_TABLES = [
  { name: 'analytics_candidates', parents: ['campaigns'], id: 'campaign_id' },
  { name: 'console_identities', parents: ['identity_providers'], id: 'provider_id' },
  { name: 'contacts', parents: ['campaigns'], id: 'campaign_id' }, // the candidate is inserted by the same statement
  { name: 'key_reminders', parents: ['partner_keys', 'session_keys'], id: 'key_id' },
  { name: 'key_uses', parents: ['partner_keys', 'session_keys', 'ats_keys'], id: 'key_id' },
  { name: 'mandate_flows', parents: ['mandates'], id: 'mandate_id' },
  { name: 'review_origins', parents: ['verification_sessions'], id: 'verification_id' },
  { name: 'scim_group_members', parents: ['scim_groups'], id: 'group_id' },
  { name: 'simulator_turns', parents: ['candidates'], id: 'candidate_id' },
  { name: 'verification_attempts', parents: ['verification_sessions'], id: 'verification_id' },
  { name: 'verification_reviews', parents: ['verification_sessions'], id: 'verification_id' },
  { name: 'webhook_deliveries', parents: ['webhooks'], id: 'webhook_id' },
  { name: 'workflow_mandate_counts', parents: ['workflows'], id: 'workflow_id' },
]

/**
 * Grants a role the right to read and write rows, if it is not the owner. The role cannot change tables, create any, or read a
 * partition directly, and it sees only the rows of the organisation that the session is limited to (see `tenant-scope.ts`). Tables of
 * later migrations are included at the start that applies them.
 */
export async function grantRowAccess(owner: Database, role: string): Promise<void> {
  if ((await currentRole(owner)) === role) return
  await owner.transaction(async (tx) => {
    // Two processes that grant at the same time would fail with "tuple concurrently updated".
    await sql`select pg_advisory_xact_lock(hashtextextended('row access', 0))`.execute(tx)
    await sql`grant usage on schema public, pgboss to ${sql.id(role)}`.execute(tx)
    for (const table of await listTablesWithoutPolicy(tx)) await createPolicy(tx, table)
    await createChildPolicies(tx)
    for (const { schema, name, granted } of await listTables(tx, role)) {
      const privileges = LIMITED_PRIVILEGES.get(`${schema}.${name}`) ?? ALL_PRIVILEGES
      const tablePrivileges = privileges.filter((privilege) => ALL_PRIVILEGES.includes(privilege))
      if (tablePrivileges.every((privilege) => granted.includes(privilege))) continue
      await sql`grant ${sql.raw(privileges.join(', '))} on ${sql.id(schema, name)} to ${sql.id(role)}`.execute(tx)
    }
    for (const signature of await listFunctionsWithoutAccess(tx, role))
      await sql`grant execute on function ${sql.raw(signature)} to ${sql.id(role)}`.execute(tx)
    for (const { schema, name } of await listSequencesWithoutAccess(tx, role))
      await sql`grant usage, select on sequence ${sql.id(schema, name)} to ${sql.id(role)}`.execute(tx)
  })
}

/** Lists the tables with the role's privileges. Partitions of `public` are used through their parent; those of the job queue are not. */
async function listTables(tx: Tx, role: string) {
  const { rows } = await sql<{ schema: string; name: string; granted: string[] }>`
    select nspname as schema, relname as name, array(
      select privilege from unnest(${ALL_PRIVILEGES}::text[]) as privilege
      where has_table_privilege(${role}, pg_class.oid, privilege)) as granted
    from pg_class join pg_namespace on pg_namespace.oid = relnamespace
    where relkind in ('r', 'p') and (nspname = 'pgboss' or (nspname = 'public' and not relispartition))
    order by 1, 2`.execute(tx)
  return rows
}

interface TenantTable {
  name: string
  has_mode: boolean
}

async function listTablesWithoutPolicy(tx: Tx): Promise<TenantTable[]> {
  const { rows } = await sql<TenantTable>`
    select relname as name, exists (
      select from pg_attribute where attrelid = pg_class.oid and attname = 'mode' and attnotnull and not attisdropped) as has_mode
    from pg_class join pg_attribute on attrelid = pg_class.oid and attname = 'org_id' and not attisdropped
    where relkind in ('r', 'p') and not relispartition and relnamespace = 'public'::regnamespace
      and not relrowsecurity and relname <> all (${Object.keys(TABLES_WITHOUT_POLICY)})
    order by relname`.execute(tx)
  return rows
}

/**
 * Limits the rows to the organisation, and the mode if the table has one, in the settings of the session. The owner of the table, who
 * applies migrations and makes backups, is exempt. Each comparison with '*' is a subquery of its own, so that it is evaluated once per
 * statement, and so that the planner does not expect it to filter out nearly all rows.
 */
async function createPolicy(tx: Tx, { name, has_mode }: TenantTable): Promise<void> {
  const isOrganisation = sql`org_id = (select current_setting('attestry.org', true))`
  const isMode = sql`((select current_setting('attestry.mode', true) = '*') or mode = (select current_setting('attestry.mode', true)))`
  await sql`create policy organisation on ${sql.table(name)} using (
    (select current_setting('attestry.org', true) = '*') or (${isOrganisation} and ${has_mode ? isMode : sql`true`}))`.execute(
    tx,
  )
  await sql`alter table ${sql.table(name)} enable row level security`.execute(tx)
}

/** Limits the rows of child tables to those whose parent the session sees. Replaces a policy that lacks a parent. */
async function createChildPolicies(tx: Tx): Promise<void> {
  // The tables that a policy refers to are recorded as its dependencies. The table itself is one of them.
  const { rows } = await sql<{ name: string; has_policy: boolean; referenced: string[] }>`
    select relname as name, relrowsecurity as has_policy, array(
      select parent.relname::text from pg_policy
        join pg_depend on classid = 'pg_policy'::regclass and objid = pg_policy.oid and refclassid = 'pg_class'::regclass
        join pg_class as parent on parent.oid = refobjid
      where polrelid = pg_class.oid and polname = 'organisation') as referenced
    from pg_class
    where relnamespace = 'public'::regnamespace and relname = any (${CHILD_TABLES.map(({ name }) => name)})`.execute(tx)
  const current = new Map(rows.map((row) => [row.name, row]))
  for (const { name, parents, id } of CHILD_TABLES) {
    const { has_policy, referenced } = current.get(name)!
    if (has_policy && parents.every((parent) => referenced.includes(parent))) continue
    const conditions = parents.map(
      (parent) =>
        sql`exists (select from ${sql.table(parent)} as parent where parent.${sql.ref(id)} = ${sql.ref(`${name}.${id}`)})`,
    )
    await sql`drop policy if exists organisation on ${sql.table(name)}`.execute(tx)
    await sql`create policy organisation on ${sql.table(name)} using (
      (select current_setting('attestry.org', true) = '*') or ${sql.join(conditions, sql` or `)})`.execute(tx)
    await sql`alter table ${sql.table(name)} enable row level security`.execute(tx)
  }
}

async function listSequencesWithoutAccess(tx: Tx, role: string) {
  const { rows } = await sql<{ schema: string; name: string }>`
    select nspname as schema, relname as name
    from pg_class join pg_namespace on pg_namespace.oid = relnamespace
    where relkind = 'S' and nspname in ('public', 'pgboss')
      and not (has_sequence_privilege(${role}, pg_class.oid, 'usage') and has_sequence_privilege(${role}, pg_class.oid, 'select'))
    order by 1, 2`.execute(tx)
  return rows
}

/**
 * Lists the functions of migrations that the role may not call, with the types of their parameters. Functions of extensions, and those of
 * other roles, are left as they are.
 */
async function listFunctionsWithoutAccess(tx: Tx, role: string): Promise<string[]> {
  const { rows } = await sql<{ signature: string }>`
    select oid::regprocedure::text as signature from pg_proc
    where pronamespace = 'public'::regnamespace and prokind = 'f' and proowner = current_user::regrole
      and not exists (select from pg_depend where classid = 'pg_proc'::regclass and objid = pg_proc.oid and deptype = 'e')
      and not has_function_privilege(${role}, oid, 'execute')
    order by 1`.execute(tx)
  return rows.map(({ signature }) => signature)
}
