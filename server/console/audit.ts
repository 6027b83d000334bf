import { createHash, randomBytes } from 'node:crypto'
import { sql } from 'kysely'
import type { Mode } from '../access/keys.ts'
import type { Clock } from '../platform/clock.ts'
import { notifyAfterCommit, type Queries, type Tx } from '../platform/database/database.ts'
import { newId } from '../platform/ids.ts'
import { toSingleLine } from '../platform/text/strip-invisible.ts'

/** The kind of person or program behind an entry. A key is one of the partner API. A visitor is not signed in. */
export const auditActors = ['operator', 'member', 'key', 'cli', 'visitor', 'server'] as const
export type AuditActor = (typeof auditActors)[number]

/** The origin of a request. */
export interface AuditSource {
  address?: string | undefined
  userAgent?: string | undefined
}

export interface NewAuditEntry {
  /** An email address, the ID of a key, or `cli:` with the system account and the host. Undefined for a visitor and for the server. */
  who?: string | undefined
  /** Default: `cli` if `who` starts with `cli:`, otherwise `member`. */
  actor?: AuditActor | undefined
  orgId?: string | undefined
  mode?: Mode | undefined
  action: string
  subject?: string | undefined
  details?: object | undefined
  requestId?: string | undefined
  source?: AuditSource | undefined
}

/** Topic that is published after the commit of an audit entry. */
export const AUDIT_RECORDED = 'audit-recorded'

/** A personal value and the random salt of its commitment; null if the value was erased. */
export type PersonalValue = { value: string; salt: string } | null

/** Details that are personal values, or may be. The others must not contain any, because they cannot be erased. */
const PERSONAL_DETAILS: readonly string[] = ['email', 'phone', 'key_name']
const DETAIL_PREFIX = 'details.'

const SALT_BYTES = 16
const MAX_VALUE_LENGTH = 300

/** Stores an audit entry in the transaction of the change that it describes. */
export async function recordAuditEntry(tx: Tx, clock: Clock, entry: NewAuditEntry): Promise<void> {
  const now = clock.now()
  const { details, values } = splitDetails(entry.details ?? {})
  const { address, userAgent } = entry.source ?? {}
  if (entry.who !== undefined) values.who = entry.who
  if (address) values.address = address
  if (userAgent) values.user_agent = userAgent
  const personal = Object.entries(values).map(([name, value]) => [name, saltedValue(value)] as const)
  await tx
    .insertInto('audit_log')
    .values({
      audit_id: newId('AU_', now),
      at: new Date(now),
      actor: entry.actor ?? (entry.who?.startsWith('cli:') ? 'cli' : 'member'),
      org_id: entry.orgId ?? null,
      mode: entry.mode ?? null,
      action: entry.action,
      subject: entry.subject ?? null,
      details: JSON.stringify(details),
      request_id: entry.requestId ?? null,
      personal: JSON.stringify(Object.fromEntries(personal)),
      commitments: JSON.stringify(Object.fromEntries(personal.map(([name, value]) => [name, commitmentOf(value)]))),
    })
    .execute()
  notifyAfterCommit(tx, AUDIT_RECORDED)
}

/** Separates the personal values from the other details. */
function splitDetails(allDetails: object) {
  const details: Record<string, unknown> = {}
  const values: Record<string, string> = {}
  for (const [name, value] of Object.entries(allDetails)) {
    if (PERSONAL_DETAILS.includes(name) && typeof value === 'string') values[DETAIL_PREFIX + name] = value
    else details[name] = value
  }
  return { details, values }
}

function saltedValue(text: string): NonNullable<PersonalValue> {
  const value = toSingleLine(text).slice(0, MAX_VALUE_LENGTH).toWellFormed()
  return { value, salt: randomBytes(SALT_BYTES).toString('hex') }
}

/** Returns the commitment to a personal value: without the salt, it does not reveal the value, even to a caller who guesses it. */
export function commitmentOf({ value, salt }: NonNullable<PersonalValue>): string {
  return createHash('sha256').update(Buffer.from(salt, 'hex')).update(value).digest('hex')
}

export interface AuditListOptions {
  orgId?: string | undefined
  /** True for entries of operators who are not members of the organisation. */
  operatorsOnly?: boolean | undefined
  /** Email address of the person. */
  who?: string | undefined
  /** The beginning of actions, such as `member.`. */
  actionPrefixes?: readonly string[] | undefined
  /** The ID of the changed record. */
  subject?: string | undefined
  from?: Date | undefined
  to?: Date | undefined
  /** ID of an audit entry: only older entries are returned. */
  before?: string | undefined
  limit: number
}

/** Returns audit entries, newest first. */
export async function listAuditEntries(
  queries: Queries,
  { before, limit, ...filter }: AuditListOptions,
): Promise<AuditRecord[]> {
  const rows = await queries
    .selectFrom('audit_log')
    .select(['audit_id', 'at', 'actor', 'who', 'org_id', 'mode', 'action', 'subject', 'details', 'request_id'])
    .select(sql<Record<string, PersonalValue>>`personal`.as('personal'))
    .where(auditCondition(filter))
    .$if(before !== undefined, (query) => query.where('audit_id', '<', before!))
    .orderBy('audit_id', 'desc')
    .limit(limit)
    .execute()
  return rows.map(({ at, personal, who, actor, details, ...row }) => ({
    ...row,
    at: at.toISOString(),
    actor: actor as AuditActor | null,
    who: personal.who?.value ?? who ?? NAMES_OF_UNNAMED[actor ?? ''] ?? 'erased',
    details: { ...(details as object), ...personalDetails(personal) },
    address: personal.address?.value ?? null,
    user_agent: personal.user_agent?.value ?? null,
  }))
}

/** Returns the condition on `audit_log` of a filter. */
export function auditCondition({
  orgId,
  operatorsOnly,
  who,
  actionPrefixes,
  subject,
  from,
  to,
}: Omit<AuditListOptions, 'before' | 'limit'>) {
  const conditions = [sql<boolean>`true`]
  if (orgId !== undefined) conditions.push(sql`org_id = ${orgId}`)
  if (operatorsOnly) conditions.push(sql`actor = 'operator'`)
  if (who !== undefined) conditions.push(sql`lower(personal -> 'who' ->> 'value') = ${who.trim().toLowerCase()}`)
  if (subject !== undefined) conditions.push(sql`subject = ${subject.trim()}`)
  if (actionPrefixes !== undefined)
    conditions.push(
      sql`exists (select from unnest(${[...actionPrefixes]}::text[]) as prefix where starts_with(action, prefix))`,
    )
  if (from !== undefined) conditions.push(sql`at >= ${from}`)
  if (to !== undefined) conditions.push(sql`at < ${to}`)
  return sql<boolean>`${sql.join(conditions, sql` and `)}`
}

/** The name of an actor without a name. */
const NAMES_OF_UNNAMED: Record<string, string> = { visitor: 'not signed in', server: 'server' }

export interface AuditRecord {
  audit_id: string
  at: string
  actor: AuditActor | null
  who: string
  org_id: string | null
  mode: string | null
  action: string
  subject: string | null
  details: Record<string, unknown>
  request_id: string | null
  address: string | null
  user_agent: string | null
}

function personalDetails(personal: Record<string, PersonalValue>): Record<string, string> {
  return Object.fromEntries(
    Object.entries(personal)
      .filter(([name]) => name.startsWith(DETAIL_PREFIX))
      .map(([name, value]) => [name.slice(DETAIL_PREFIX.length), value?.value ?? 'erased']),
  )
}

/** Returns an entry as the organisation sees it: without the address and the program of operators. */
export function entryForOrganisation(entry: AuditRecord): AuditRecord {
  return entry.actor === 'operator' ? { ...entry, address: null, user_agent: null } : entry
}

/** Erases a personal value from all entries, regardless of its capitalisation, and returns the number of changed entries. */
export async function eraseAuditValue(tx: Tx, value: string): Promise<number> {
  const { rows } = await sql`
    update audit_log set personal = (
      select jsonb_object_agg(key, case when lower(stored ->> 'value') = lower(${value}) then 'null'::jsonb else stored end)
      from jsonb_each(personal) as each (key, stored)
    )
    where exists (
      select from jsonb_each(personal) as each (key, stored) where lower(stored ->> 'value') = lower(${value})
    )
    returning audit_id`.execute(tx)
  return rows.length
}
