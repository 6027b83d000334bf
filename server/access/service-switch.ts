import { type RawBuilder, sql } from 'kysely'
import { problem } from '../api/problem.ts'
import type { Clock } from '../platform/clock.ts'
import type { Queries, Tx } from '../platform/database/database.ts'
import { defineHook } from '../platform/hook.ts'
import { getOrganisation } from './organisations.ts'

/** `api_off`: only the partner API is off. `off`: all work is stopped and held. */
export const serviceStates = ['on', 'api_off', 'off'] as const
export type ServiceState = (typeof serviceStates)[number]

/** The service switch of one organisation, or of all organisations. */
export interface ServiceStatus {
  state: ServiceState
  since: Date | null
  reason: string | null
}

/** The organisations whose work is paused: a list of IDs, or all. */
export type PausedOrganisations = 'all' | readonly string[]

/** Returns the condition that the organisation in this column is not paused. */
export function isNotPaused(orgIdColumn: RawBuilder<unknown>, paused: PausedOrganisations): RawBuilder<boolean> {
  if (paused === 'all') return sql`false`
  return paused.length === 0 ? sql`true` : sql`${orgIdColumn} <> all (${paused}::text[])`
}

/** The end of a pause. */
export interface Resumption {
  orgIds: string[]
  pausedSince: Date
  /** Deadlines after `pausedSince` are extended by this time. */
  extendByMs: number
}

/**
 * Runs in the transaction that ends a pause. Each module extends the deadlines that a person could not meet during the pause, and
 * notifies its engines.
 */
export const serviceResumed = defineHook<[tx: Tx, resumption: Resumption]>('serviceResumed').handledBy(
  'campaigns',
  'verification',
  'webhooks',
)

export interface ServiceChange {
  /** Undefined for all organisations. */
  orgId?: string | undefined
  state: ServiceState
  reason?: string | undefined
}

const columns = ['service_off', 'service_off_since', 'service_off_reason', 'paused_since'] as const

interface SwitchRow {
  service_off: boolean
  service_off_since: Date | null
  service_off_reason: string | null
  paused_since: Date | null
}

/**
 * Switches the service on or off, for one organisation or for all. An organisation is paused while its own switch or the switch for
 * all is `off`; ending one of two overlapping pauses extends deadlines only by the time that the other one does not cover.
 */
export async function switchService(tx: Tx, clock: Clock, { orgId, state, reason }: ServiceChange): Promise<void> {
  const now = new Date(clock.now())
  // Locked first by every change of a switch, so that two changes cannot miss each other.
  const forAll = await tx.selectFrom('service_switch').select(columns).forUpdate().executeTakeFirstOrThrow()
  if (orgId === undefined) {
    await tx
      .updateTable('service_switch')
      .set(nextRow(forAll, state, reason, now))
      .execute()
    if (forAll.paused_since !== null && state !== 'off') await resumeAll(tx, forAll.paused_since, now)
    return
  }
  const own = await tx
    .selectFrom('organisations')
    .select([...columns, 'erasure_requested_at'])
    .where('org_id', '=', orgId)
    .forUpdate()
    .executeTakeFirst()
  if (!own) throw problem('NOT_FOUND', `Organisation ${orgId} not found.`)
  if (own.erasure_requested_at !== null && state !== 'off')
    throw problem(
      'CONFLICT',
      `The erasure of ${orgId} was requested on ${own.erasure_requested_at.toISOString().slice(0, 10)}, so its service stays off. If the customer returns, create a new organisation.`,
    )
  await tx
    .updateTable('organisations')
    .set(nextRow(own, state, reason, now))
    .where('org_id', '=', orgId)
    .execute()
  if (own.paused_since === null || state === 'off') return
  // While all organisations are paused, the rest of the time is added when that pause ends.
  await resume(tx, [orgId], own.paused_since, forAll.paused_since ?? now)
}

function nextRow(current: SwitchRow, state: ServiceState, reason: string | undefined, now: Date): SwitchRow {
  if (state === 'on')
    return { service_off: false, service_off_since: null, service_off_reason: null, paused_since: null }
  return {
    service_off: true,
    service_off_since: current.service_off_since ?? now,
    service_off_reason: reason ?? (current.service_off ? current.service_off_reason : null),
    paused_since: state === 'off' ? (current.paused_since ?? now) : null,
  }
}

/** Ends the pause of all organisations, except those that are paused by their own switch: these count the time as their own. */
async function resumeAll(tx: Tx, pausedSince: Date, now: Date) {
  await tx
    .updateTable('organisations')
    .set({ paused_since: pausedSince })
    .where('paused_since', '>', pausedSince)
    .execute()
  const organisations = await tx
    .selectFrom('organisations')
    .select('org_id')
    .where('paused_since', 'is', null)
    .execute()
  await resume(
    tx,
    organisations.map(({ org_id }) => org_id),
    pausedSince,
    now,
  )
}

async function resume(tx: Tx, orgIds: string[], pausedSince: Date, until: Date) {
  if (orgIds.length === 0) return
  const extendByMs = Math.max(0, until.getTime() - pausedSince.getTime())
  await serviceResumed.run(tx, { orgIds, pausedSince, extendByMs })
}

/** Returns the switch of an organisation, or the switch for all. */
export async function getServiceStatus(queries: Queries, orgId?: string): Promise<ServiceStatus> {
  if (orgId !== undefined) await getOrganisation(queries, orgId)
  const row =
    orgId === undefined
      ? await queries.selectFrom('service_switch').select(columns).executeTakeFirstOrThrow()
      : await queries.selectFrom('organisations').select(columns).where('org_id', '=', orgId).executeTakeFirstOrThrow()
  return statusOf(row)
}

/** Returns the organisations whose own switch is not on, by name. */
export async function listSwitchedOff(queries: Queries): Promise<(ServiceStatus & { org_id: string; name: string })[]> {
  const rows = await queries
    .selectFrom('organisations')
    .select(['org_id', 'name', ...columns])
    .where('service_off', '=', true)
    .orderBy('name')
    .orderBy('org_id')
    .execute()
  return rows.map(({ org_id, name, ...row }) => ({ org_id, name, ...statusOf(row) }))
}

function statusOf({ service_off, service_off_since, service_off_reason, paused_since }: SwitchRow): ServiceStatus {
  return {
    state: paused_since !== null ? 'off' : service_off ? 'api_off' : 'on',
    since: service_off_since,
    reason: service_off_reason,
  }
}

/** The response to a partner while the partner API is off or the organisation is paused. */
export function serviceDisabledProblem(isPaused: boolean) {
  const message = isPaused
    ? 'The operator has switched the service off for your organisation: all work is stopped and held. Nothing was changed.'
    : 'The operator has disabled the partner API for your organisation. Nothing was changed.'
  return problem('SERVICE_DISABLED', message)
}

/** The response to a candidate, student, reviewer or session key while the organisation is paused. */
export function servicePausedProblem() {
  return problem(
    'SERVICE_DISABLED',
    'The service is paused for this organisation. Nothing was changed, and nothing is lost: try again later.',
  )
}
