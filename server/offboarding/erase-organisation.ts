import { sql } from 'kysely'
import { listKeys, revokeKey } from '../access/keys.ts'
import { getOrganisation } from '../access/organisations.ts'
import { switchService } from '../access/service-switch.ts'
import { problem } from '../api/problem.ts'
import { disconnect, listConnections } from '../ats/connections.ts'
import type { Context } from '../context.ts'
import { getPrivacySettings } from '../notices/settings.ts'
import { erasePerson } from '../people/erasure.ts'
import type { Database, Queries, Tx } from '../platform/database/database.ts'
import { defineJob } from '../platform/jobs/queue.ts'

export type OffboardingDeps = Pick<Context, 'clock' | 'vault' | 'mailboxes' | 'config'>

/** Erases an organisation in the background. A job that was interrupted is run again, and continues with the remaining people. */
export const eraseOrganisationJob = defineJob<{ org_id: string; basis: string; requested_by: string }>(
  'erase-organisation',
  { timeoutSeconds: 3000, concurrency: 1, unique: true },
)

/** `held`: a legal hold prevents the rest of the erasure. `failed`: the erasure is incomplete and has to be requested again. */
export const erasureStatuses = ['not_requested', 'running', 'held', 'failed', 'erased'] as const

export interface ErasureProgress {
  org_id: string
  status: (typeof erasureStatuses)[number]
  /** All people of the organisation, in both modes. */
  people: number
  people_erased: number
  /** People with a legal hold, who are not erased. While there are any, the organisation is not marked as erased. */
  people_held: number
  erased_at: string | null
}

export interface ErasureRequest {
  confirmName: string
  basis: string
  requestedBy: string
}

const SERVICE_OFF_REASON = 'The organisation is being erased.'
const BATCH_SIZE = 200
/** After this many failures the cause is probably not a single person, and the run ends. */
const MAX_ERRORS = 20

/**
 * Starts the erasure of an organisation at the end of its contract: stops all of its work and enqueues the job that erases its data.
 * `startAt` is the earliest start of the job, in milliseconds since 1970.
 */
export async function requestErasure(
  tx: Tx,
  deps: OffboardingDeps & Pick<Context, 'queue'>,
  orgId: string,
  { confirmName, basis, requestedBy }: ErasureRequest,
  startAt?: number,
): Promise<void> {
  const { name } = await getOrganisation(tx, orgId)
  if (confirmName !== name)
    throw problem('VALIDATION_FAILED', `To confirm, enter the name of the organisation, ${JSON.stringify(name)}.`)
  const { legal_hold_reason } = await getPrivacySettings(tx, orgId)
  if (legal_hold_reason !== null)
    throw problem('CONFLICT', `${orgId} has a legal hold (${legal_hold_reason}). End the legal hold first.`)
  await stopOrganisation(tx, deps, orgId)
  const payload = { org_id: orgId, basis, requested_by: requestedBy }
  await deps.queue.enqueue(tx, eraseOrganisationJob, payload, {
    key: orgId,
    ...(startAt === undefined ? {} : { at: startAt }),
  })
}

/** The state after a run. */
export interface ErasureRun {
  /** All erased people of the organisation, including those of earlier runs. */
  people_erased: number
  /** People who are not erased, because they or the organisation have a legal hold. */
  people_held: number
  erased_at: string | null
  /** Whether the run ended because of `shouldStop`, and must be continued. */
  isInterrupted: boolean
}

/**
 * Erases the people of an organisation whose erasure was requested, each in a separate transaction, and then deletes its members, branding,
 * channel credentials and settings, emails, request log and the personal values in its audit log. Counts, credits, amounts spent, results and the
 * ledger remain, without personal values. A second call continues after an interruption. `onPersonErased` is called after each person with
 * their number in this run; `shouldStop` then ends the run if it returns true. `onErased` runs in the transaction that marks the organisation as erased.
 */
export async function eraseOrganisation(
  db: Database,
  deps: OffboardingDeps,
  orgId: string,
  request: { basis: string; requestedBy: string },
  {
    shouldStop = () => false,
    onPersonErased = () => {},
    onErased,
  }: {
    shouldStop?: () => boolean
    onPersonErased?: (peopleErased: number) => void
    onErased: (tx: Tx, run: Omit<ErasureRun, 'isInterrupted'>) => Promise<void>
  },
): Promise<ErasureRun> {
  const isInterrupted = await erasePeople(db, deps, orgId, request, { shouldStop, onPersonErased })
  return db.transaction(async (tx) => {
    const run = { ...(await countPeople(tx, orgId)), erased_at: null }
    if (isInterrupted || run.people_held > 0 || (await hasLegalHold(tx, orgId))) return { ...run, isInterrupted }
    const erasedAt = new Date(deps.clock.now())
    const erased = { ...run, erased_at: erasedAt.toISOString() }
    if (await deleteRemainingData(tx, orgId, erasedAt)) await onErased(tx, erased)
    return { ...erased, isInterrupted }
  })
}

/** Returns the progress of the erasure of an organisation. */
export async function getErasureProgress(queries: Queries, orgId: string): Promise<ErasureProgress> {
  const { rows } = await sql<
    Pick<ErasureProgress, 'people' | 'people_erased' | 'people_held'> & {
      erased_at: Date | null
      is_requested: boolean
      is_running: boolean
      has_legal_hold: boolean
    }
  >`
    select o.erased_at, o.erasure_requested_at is not null as is_requested, n.people, n.people_erased, n.people_held,
      exists (select from pgboss.job where name = ${eraseOrganisationJob.name} and singleton_key = o.org_id
        and state in ('created', 'retry', 'active')) as is_running,
      exists (select from privacy_settings s where s.org_id = o.org_id and s.legal_hold_reason is not null) as has_legal_hold
    from organisations o, lateral (
      select count(*)::int as people, count(*) filter (where erased_at is not null)::int as people_erased,
        count(*) filter (where erased_at is null and legal_hold is not null)::int as people_held
      from people where org_id = o.org_id
    ) n where o.org_id = ${orgId}`.execute(queries)
  const row = rows[0]
  if (!row) throw problem('NOT_FOUND', `Organisation ${orgId} not found.`)
  const { erased_at, is_requested, is_running, has_legal_hold, ...counts } = row
  return { org_id: orgId, status: statusOf(), ...counts, erased_at: erased_at?.toISOString() ?? null }

  function statusOf(): ErasureProgress['status'] {
    if (erased_at !== null) return 'erased'
    if (is_running) return 'running'
    if (!is_requested) return 'not_requested'
    return has_legal_hold || counts.people_held > 0 ? 'held' : 'failed'
  }
}

/** Switches the service off, revokes keys and disconnects applicant tracking systems, before data is erased. */
async function stopOrganisation(tx: Tx, deps: OffboardingDeps, orgId: string): Promise<void> {
  const { clock } = deps
  await switchService(tx, clock, { orgId, state: 'off', reason: SERVICE_OFF_REASON })
  await sql`update organisations set erasure_requested_at = coalesce(erasure_requested_at, ${new Date(clock.now())})
    where org_id = ${orgId}`.execute(tx)
  for (const { key_id, revoked_at } of await listKeys(tx, orgId)) {
    if (revoked_at === null) await revokeKey(tx, clock, key_id)
  }
  for (const mode of ['test', 'live'] as const) {
    const scope = { orgId, mode }
    for (const { connection_id } of await listConnections(tx, scope)) await disconnect(tx, deps, scope, connection_id)
  }
}

/** Erases people, and returns whether `shouldStop` has ended the run. A person whose erasure fails does not prevent that of the others. */
async function erasePeople(
  db: Database,
  deps: OffboardingDeps,
  orgId: string,
  request: { basis: string; requestedBy: string },
  { shouldStop, onPersonErased }: { shouldStop: () => boolean; onPersonErased: (peopleErased: number) => void },
): Promise<boolean> {
  let peopleErased = 0
  let lastId = ''
  const errors: unknown[] = []
  for (;;) {
    const { rows } = await sql<{ person_id: string; mode: 'test' | 'live' }>`
      select person_id, mode from people
      where org_id = ${orgId} and erased_at is null and legal_hold is null and person_id > ${lastId}
      order by person_id limit ${BATCH_SIZE}`.execute(db.queries)
    for (const { person_id, mode } of rows) {
      try {
        const isHeld = await db.transaction(async (tx) => {
          if (await hasLegalHold(tx, orgId)) return true
          await erasePerson(tx, deps, { orgId, mode }, person_id, request)
          return false
        })
        if (isHeld) return false
        onPersonErased(++peopleErased)
      } catch (error) {
        errors.push(error)
        if (errors.length === MAX_ERRORS) throw error
      }
      if (shouldStop()) return true
    }
    if (rows.length < BATCH_SIZE) break
    lastId = rows.at(-1)!.person_id
  }
  if (errors.length > 0) throw errors[0]
  return false
}

/** Returns whether the organisation has a legal hold. None can start until the end of the transaction. */
async function hasLegalHold(tx: Tx, orgId: string): Promise<boolean> {
  const { rows } = await sql<{ legal_hold_reason: string | null }>`
    select legal_hold_reason from privacy_settings where org_id = ${orgId} for share`.execute(tx)
  return rows[0] !== undefined && rows[0].legal_hold_reason !== null
}

async function countPeople(tx: Tx, orgId: string): Promise<Pick<ErasureRun, 'people_erased' | 'people_held'>> {
  const { rows } = await sql<Pick<ErasureRun, 'people_erased' | 'people_held'>>`
    select count(*) filter (where erased_at is not null)::int as people_erased,
      count(*) filter (where erased_at is null)::int as people_held
    from people where org_id = ${orgId}`.execute(tx)
  return rows[0]!
}

/**
 * Deletes the remaining data, such as members, credentials and logs, from the tables of several modules. Returns false if the organisation
 * was already marked as erased.
 */
async function deleteRemainingData(tx: Tx, orgId: string, erasedAt: Date): Promise<boolean> {
  await sql`delete from webhook_deliveries where webhook_id in (select webhook_id from webhooks where org_id = ${orgId})`.execute(
    tx,
  )
  await sql`update webhooks set status = 'archived', updated_at = ${erasedAt} where org_id = ${orgId}`.execute(tx)
  await sql`delete from channel_credentials where org_id = ${orgId}`.execute(tx)
  await sql`delete from message_templates where org_id = ${orgId}`.execute(tx)
  await sql`delete from whatsapp_limits where org_id = ${orgId}`.execute(tx)
  await sql`delete from dnd_checks where org_id = ${orgId}`.execute(tx)
  await sql`delete from send_rates where org_id = ${orgId}`.execute(tx)
  await sql`delete from spending_settings where org_id = ${orgId}`.execute(tx)
  await sql`delete from branding where org_id = ${orgId}`.execute(tx)
  await sql`delete from mails where org_id = ${orgId}`.execute(tx)
  await sql`delete from request_log where org_id = ${orgId}`.execute(tx)
  await sql`delete from privacy_requests where org_id = ${orgId}`.execute(tx)
  await sql`update audit_log set personal = (select jsonb_object_agg(key, 'null'::jsonb) from jsonb_object_keys(personal) as key)
      where org_id = ${orgId} and jsonb_path_exists(personal, '$.* ? (@ != null)')`.execute(tx)
  await sql`delete from report_links where org_id = ${orgId}`.execute(tx)
  await sql`delete from embed_sessions where org_id = ${orgId}`.execute(tx)
  await sql`delete from embed_origins where org_id = ${orgId}`.execute(tx)
  await sql`delete from notifications where org_id = ${orgId}`.execute(tx)
  await sql`delete from console_views where org_id = ${orgId}`.execute(tx)
  await sql`update candidate_list set decided_by = null, assigned_to = null
    where org_id = ${orgId} and (decided_by is not null or assigned_to is not null)`.execute(tx)
  await sql`delete from console_members where org_id = ${orgId}`.execute(tx)
  await sql`delete from identity_providers where org_id = ${orgId}`.execute(tx) // with its accounts and sessions
  await sql`update privacy_settings set grievance_name = null, grievance_email = null, grievance_phone = null, privacy_email = null,
      postal_address = null, updated_at = ${erasedAt} where org_id = ${orgId}`.execute(tx)
  const { rows } = await sql`
      update organisations set erased_at = ${erasedAt} where org_id = ${orgId} and erased_at is null returning org_id`.execute(
    tx,
  )
  return rows.length > 0
}
