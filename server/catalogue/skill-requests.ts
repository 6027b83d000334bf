import { sql } from 'kysely'
import type { OrgScope } from '../access/caller.ts'
import { problem } from '../api/problem.ts'
import type { Clock } from '../platform/clock.ts'
import type { Queries, Tx } from '../platform/database/database.ts'
import { defineHook } from '../platform/hook.ts'
import { newId } from '../platform/ids.ts'
import { skillId } from './ids.ts'
import { nameKey, normaliseText } from './names.ts'
import { addAliasOfRequest, findSkillForRequest } from './skill-edits.ts'
import { addSkill } from './store.ts'

export const requestStatuses = ['pending', 'approved', 'rejected', 'duplicate'] as const
export type RequestStatus = (typeof requestStatuses)[number]

export const MAX_REASON_LENGTH = 500

/** A partner's request to add a skill that is missing in the catalogue. */
export interface SkillRequest {
  request_id: string
  org_id: string
  mode: 'test' | 'live'
  name: string
  name_key: string
  context: string | null
  status: RequestStatus
  /**
   * Number of the requested skill. Set when the request is approved, or on creation if the skill already exists (`duplicate`).
   */
  skill_number: number | null
  rejection_reason: string | null
  created_at: Date
  updated_at: Date
}

export interface SkillRequestInput {
  name: string
  context?: string
}

/**
 * Creates a request for a skill. If the organisation has a pending request for the same name, returns that request. If the skill
 * already exists, returns a request with the status `duplicate`.
 */
export async function requestSkill(
  tx: Tx,
  { orgId, mode }: OrgScope,
  clock: Clock,
  { name, context }: SkillRequestInput,
): Promise<{ request: SkillRequest; created: boolean }> {
  const requestedKey = nameKey(name)
  await lockName(tx, requestedKey)
  const number = await findSkillForRequest(tx, requestedKey)
  const status = number === undefined ? 'pending' : 'duplicate'
  const existing = await selectRequests(tx, { orgId, mode })
    .where('name_key', '=', requestedKey)
    .where('status', '=', status)
    .executeTakeFirst()
  const now = clock.now()
  if (existing && existing.skill_number === (number ?? null))
    return { request: existing as SkillRequest, created: false }
  if (existing) {
    // Since the earlier request, an operator has moved the name to another skill.
    const request = await tx
      .updateTable('skill_requests')
      .set({ skill_number: number!, updated_at: new Date(now) })
      .where('request_id', '=', existing.request_id)
      .returningAll()
      .executeTakeFirstOrThrow()
    return { request: request as SkillRequest, created: false }
  }
  const request = await tx
    .insertInto('skill_requests')
    .values({
      request_id: newId('SR_', now),
      org_id: orgId,
      mode,
      name,
      name_key: requestedKey,
      context: context ?? null,
      status,
      skill_number: number ?? null,
      created_at: new Date(now),
      updated_at: new Date(now),
    })
    .returningAll()
    .executeTakeFirstOrThrow()
  return { request: request as SkillRequest, created: number === undefined }
}

/** Finds the organisation's pending request for a skill of this name. */
export async function findOpenRequest(tx: Queries, scope: OrgScope, name: string): Promise<SkillRequest | undefined> {
  const openRequest = await selectRequests(tx, scope)
    .where('name_key', '=', nameKey(name))
    .where('status', '=', 'pending')
    .executeTakeFirst()
  return openRequest as SkillRequest | undefined
}

/**
 * Locks the organisation's pending requests for these names, and returns their name keys. A locked request cannot be approved or
 * rejected before the transaction ends, so a later approval also updates the rows that this transaction adds for the request.
 */
export async function lockOpenRequestsForShare(tx: Tx, scope: OrgScope, names: string[]): Promise<Set<string>> {
  if (names.length === 0) return new Set()
  const openRequests = await selectRequests(tx, scope)
    .where('name_key', 'in', names.map(nameKey))
    .where('status', '=', 'pending')
    .orderBy('request_id')
    .forShare()
    .execute()
  return new Set(openRequests.map(({ name_key }) => name_key))
}

export async function getRequest(tx: Queries, scope: OrgScope, id: string): Promise<SkillRequest> {
  const skillRequest = await selectRequests(tx, scope).where('request_id', '=', id).executeTakeFirst()
  if (!skillRequest) throw problem('NOT_FOUND', `Skill request ${id} not found.`)
  return skillRequest as SkillRequest
}

export interface SkillRequestFilter {
  status?: RequestStatus | undefined
  /** ID of the last request of the previous page. */
  after?: string | undefined
  limit: number
}

/** Lists the organisation's requests, newest first. */
export async function listRequests(
  tx: Queries,
  scope: OrgScope,
  { status, after, limit }: SkillRequestFilter,
): Promise<SkillRequest[]> {
  const skillRequests = await selectRequests(tx, scope)
    .$if(status !== undefined, (query) => query.where('status', '=', status!))
    .$if(after !== undefined, (query) => query.where('request_id', '<', after!))
    .orderBy('request_id', 'desc')
    .limit(limit)
    .execute()
  return skillRequests as SkillRequest[]
}

function selectRequests(tx: Queries, { orgId, mode }: OrgScope) {
  return tx.selectFrom('skill_requests').selectAll().where('org_id', '=', orgId).where('mode', '=', mode)
}

/** Returns the request as a record of the partner API. */
export function requestRecord({ request_id, name, status, skill_number, rejection_reason, created_at }: SkillRequest) {
  return {
    request_id,
    name,
    status,
    skill_id: skill_number === null ? null : skillId(skill_number),
    ...(rejection_reason === null ? {} : { rejection_reason }),
    created_at: created_at.toISOString(),
  }
}

/** Lists the requests of all organisations, oldest first. For operators. */
export async function listRequestsOfAllOrganisations(
  tx: Queries,
  status: RequestStatus | undefined,
  { after, limit }: { after?: string | undefined; limit?: number } = {},
): Promise<SkillRequest[]> {
  const skillRequests = await tx
    .selectFrom('skill_requests')
    .selectAll()
    .$if(status !== undefined, (query) => query.where('status', '=', status!))
    .$if(after !== undefined, (query) => query.where('request_id', '>', after!))
    .orderBy('request_id')
    .$if(limit !== undefined, (query) => query.limit(limit!))
    .execute()
  return skillRequests as SkillRequest[]
}

/** Returns the name of a request of any organisation. For operators. */
export async function getRequestedName(tx: Queries, id: string): Promise<string> {
  const row = await tx.selectFrom('skill_requests').select('name').where('request_id', '=', id).executeTakeFirst()
  if (!row) throw problem('NOT_FOUND', `Skill request ${id} not found.`)
  return row.name
}

export async function countPendingRequests(tx: Queries): Promise<number> {
  const { count } = await tx
    .selectFrom('skill_requests')
    .select(({ fn }) => fn.countAll<number>().as('count'))
    .where('status', '=', 'pending')
    .executeTakeFirstOrThrow()
  return count
}

/** The skill that a request was approved as: a new one, or an existing one. */
export interface ApprovedSkillData {
  number: number
  name: string
  /** Result of `nameKey` for the requested name. */
  nameKey: string
}

/** Hook: runs in the transaction of an approval, when the catalogue has the skill. */
export const skillApproved =
  defineHook<[tx: Tx, skill: ApprovedSkillData, clock: Clock]>('skillApproved').handledBy('mandates')

/** Hook: runs for every request that is approved or rejected, in the same transaction. A rejected request has no skill. */
export const skillRequestResolved = defineHook<
  [tx: Tx, request: SkillRequest, clock: Clock, skill: ApprovedSkillData | undefined]
>('skillRequestResolved').handledBy('mandates', 'console')

export interface SkillApproval {
  subNumber: number
  verifiable?: boolean | undefined
  description?: string | undefined
}

/** Adds the requested skill to the catalogue, and approves the requests of all organisations for its name. */
export async function approveRequest(
  tx: Tx,
  clock: Clock,
  id: string,
  { subNumber, verifiable = false, description = '' }: SkillApproval,
): Promise<{ skill: ApprovedSkillData; requests: SkillRequest[] }> {
  const { name, name_key: key } = await lockPendingRequest(tx, id)
  const { number } = await addSkill(tx, clock, {
    name,
    subNumber,
    source: 'request',
    sourceId: id,
    description,
    verifiable,
  })
  return resolveAs(tx, clock, { number, name: normaliseText(name), nameKey: key })
}

/** Approves the requests of all organisations for a name as an existing skill, which gets the requested name as an alias. */
export async function approveRequestAs(
  tx: Tx,
  clock: Clock,
  id: string,
  number: number,
): Promise<{ skill: ApprovedSkillData; requests: SkillRequest[] }> {
  const { name, name_key: key } = await lockPendingRequest(tx, id)
  const skill = await addAliasOfRequest(tx, clock, number, normaliseText(name))
  return resolveAs(tx, clock, { ...skill, nameKey: key })
}

async function resolveAs(tx: Tx, clock: Clock, skill: ApprovedSkillData) {
  const { number, nameKey: name_key } = skill
  const requests = await resolveRequests(tx, clock, { status: 'approved', skill_number: number }, { name_key })
  await skillApproved.run(tx, skill, clock)
  await runResolvedHooks(tx, requests, clock, skill)
  return { skill, requests }
}

/** Rejects this request only. Requests of other organisations for the same name stay pending. The partner sees the reason. */
export async function rejectRequest(tx: Tx, clock: Clock, id: string, reason?: string): Promise<SkillRequest> {
  await lockPendingRequest(tx, id)
  const outcome = { status: 'rejected' as const, skill_number: null, rejection_reason: reason?.trim() || null }
  const [request] = await resolveRequests(tx, clock, outcome, { request_id: id })
  await runResolvedHooks(tx, [request!], clock)
  return request!
}

/** Sets the outcome of the pending requests that match the filter, and returns them sorted by ID. */
async function resolveRequests(
  tx: Tx,
  clock: Clock,
  outcome: Pick<SkillRequest, 'status' | 'skill_number'> & Partial<Pick<SkillRequest, 'rejection_reason'>>,
  filter: Partial<Pick<SkillRequest, 'name_key' | 'request_id'>>,
): Promise<SkillRequest[]> {
  const rows = await tx
    .updateTable('skill_requests')
    .set({ ...outcome, updated_at: new Date(clock.now()) })
    .where('status', '=', 'pending')
    .where(({ and }) => and(filter))
    .returningAll()
    .execute()
  return (rows as SkillRequest[]).sort((a, b) => (a.request_id < b.request_id ? -1 : 1))
}

async function runResolvedHooks(tx: Tx, requests: SkillRequest[], clock: Clock, skill?: ApprovedSkillData) {
  for (const request of requests) await skillRequestResolved.run(tx, request, clock, skill)
}

/** Locks a request until the transaction ends. Throws if it has already been approved or rejected. */
async function lockPendingRequest(tx: Tx, id: string): Promise<Pick<SkillRequest, 'name' | 'name_key'>> {
  const skillRequest = await tx
    .selectFrom('skill_requests')
    .select('name_key')
    .where('request_id', '=', id)
    .executeTakeFirst()
  if (!skillRequest) throw problem('NOT_FOUND', `Skill request ${id} not found.`)
  await lockName(tx, skillRequest.name_key)
  const { name, name_key, status, skill_number } = await tx
    .selectFrom('skill_requests')
    .selectAll()
    .where('request_id', '=', id)
    .forUpdate()
    .executeTakeFirstOrThrow()
  if (status === 'pending') return { name, name_key }
  const outcome = skill_number === null ? status : `${status} (${skillId(skill_number)})`
  throw problem('CONFLICT', `Skill request ${id} has already been decided: ${outcome}.`)
}

/**
 * Locks a name, so that creating a request for it and approving or rejecting a request for it cannot run at the same time. Without
 * this lock, a request that is created during the approval of the same name could stay pending forever: it would not find the
 * skill, and the approval would not find the request.
 */
async function lockName(tx: Tx, key: string) {
  await sql`select pg_advisory_xact_lock(hashtextextended(${`skill request ${key}`}, 0))`.execute(tx)
}
