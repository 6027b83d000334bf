import { sql } from 'kysely'
import type { OwnerScope } from '../access/caller.ts'
import { problem } from '../api/problem.ts'
import type { Clock } from '../platform/clock.ts'
import type { Queries, Tx } from '../platform/database/database.ts'
import { newId } from '../platform/ids.ts'
import { skillId } from './ids.ts'
import { nameKey, tidy } from './names.ts'
import { addSkill } from './store.ts'

export const requestStatuses = ['pending', 'approved', 'rejected', 'duplicate'] as const
export type RequestStatus = (typeof requestStatuses)[number]

/** A partner's wish for a skill that the catalogue lacks. */
export interface SkillRequest {
  request_id: string
  org_id: string
  mode: 'test' | 'live'
  name: string
  name_key: string
  context: string | null
  status: RequestStatus
  /** Set once approved, or from the start where the catalogue had the name. */
  skill_number: number | null
  created_at: Date
  updated_at: Date
}

export interface SkillRequestInput {
  name: string
  context?: string
}

/** Asks for a skill. The catalogue's own names and a request that is open already are answered with what there is. */
export async function requestSkill(
  tx: Tx,
  { orgId, mode }: OwnerScope,
  clock: Clock,
  { name, context }: SkillRequestInput,
): Promise<{ request: SkillRequest; made: boolean }> {
  const key = nameKey(name)
  await lockName(tx, key)
  const skill = await tx.selectFrom('skills').select('number').where('name_key', '=', key).executeTakeFirst()
  const status = skill ? 'duplicate' : 'pending'
  const standing = await requestsOf(tx, { orgId, mode })
    .where('name_key', '=', key)
    .where('status', '=', status)
    .executeTakeFirst()
  if (standing) return { request: standing as SkillRequest, made: false }
  const now = clock.now()
  const request = await tx
    .insertInto('skill_requests')
    .values({
      request_id: newId('SR_', now),
      org_id: orgId,
      mode,
      name,
      name_key: key,
      context: context ?? null,
      status,
      skill_number: skill?.number ?? null,
      created_at: new Date(now),
      updated_at: new Date(now),
    })
    .returningAll()
    .executeTakeFirstOrThrow()
  return { request: request as SkillRequest, made: !skill }
}

/** The organisation's request for a skill of this name that nobody has decided yet. */
export async function findOpenRequest(tx: Queries, scope: OwnerScope, name: string): Promise<SkillRequest | undefined> {
  const found = await requestsOf(tx, scope)
    .where('name_key', '=', nameKey(name))
    .where('status', '=', 'pending')
    .executeTakeFirst()
  return found as SkillRequest | undefined
}

/**
 * Of these names, the keys of those that the organisation has an open request for. Nobody decides one of them before the
 * transaction ends, so what relies on it is there for the decision to see.
 */
export async function holdOpenRequests(tx: Tx, scope: OwnerScope, names: string[]): Promise<Set<string>> {
  if (names.length === 0) return new Set()
  const found = await requestsOf(tx, scope)
    .where('name_key', 'in', names.map(nameKey))
    .where('status', '=', 'pending')
    .orderBy('request_id')
    .forShare()
    .execute()
  return new Set(found.map(({ name_key }) => name_key))
}

export async function getRequest(tx: Queries, scope: OwnerScope, id: string): Promise<SkillRequest> {
  const found = await requestsOf(tx, scope).where('request_id', '=', id).executeTakeFirst()
  if (!found) throw problem('NOT_FOUND', `There is no skill request ${id}.`)
  return found as SkillRequest
}

export interface RequestFilter {
  status?: RequestStatus | undefined
  /** The last request of the page before. */
  after?: string | undefined
  limit: number
}

/** Newest first. */
export async function listRequests(
  tx: Queries,
  scope: OwnerScope,
  { status, after, limit }: RequestFilter,
): Promise<SkillRequest[]> {
  const found = await requestsOf(tx, scope)
    .$if(status !== undefined, (query) => query.where('status', '=', status!))
    .$if(after !== undefined, (query) => query.where('request_id', '<', after!))
    .orderBy('request_id', 'desc')
    .limit(limit)
    .execute()
  return found as SkillRequest[]
}

function requestsOf(tx: Queries, { orgId, mode }: OwnerScope) {
  return tx.selectFrom('skill_requests').selectAll().where('org_id', '=', orgId).where('mode', '=', mode)
}

/** What partners are shown. */
export function requestRecord({ request_id, name, status, skill_number, created_at }: SkillRequest) {
  return {
    request_id,
    name,
    status,
    skill_id: skill_number === null ? null : skillId(skill_number),
    created_at: created_at.toISOString(),
  }
}

/** For operators: the requests of all organisations, oldest first. */
export async function listAllRequests(
  tx: Queries,
  status: RequestStatus | undefined,
  { after, limit }: { after?: string | undefined; limit?: number } = {},
): Promise<SkillRequest[]> {
  const found = await tx
    .selectFrom('skill_requests')
    .selectAll()
    .$if(status !== undefined, (query) => query.where('status', '=', status!))
    .$if(after !== undefined, (query) => query.where('request_id', '>', after!))
    .orderBy('request_id')
    .$if(limit !== undefined, (query) => query.limit(limit!))
    .execute()
  return found as SkillRequest[]
}

export async function countPendingRequests(tx: Queries): Promise<number> {
  const { count } = await tx
    .selectFrom('skill_requests')
    .select(({ fn }) => fn.countAll<number>().as('count'))
    .where('status', '=', 'pending')
    .executeTakeFirstOrThrow()
  return count
}

/** A skill that the catalogue has from now on because somebody asked for it. */
export interface ApprovedSkill {
  number: number
  name: string
  /** What its name has in common with other spellings: see `nameKey`. */
  nameKey: string
}

type SkillApproved = (tx: Tx, skill: ApprovedSkill, clock: Clock) => Promise<void>
type RequestResolved = (tx: Tx, request: SkillRequest, clock: Clock) => Promise<void>

const skillApproved = new Set<SkillApproved>()
const requestResolved = new Set<RequestResolved>()

/** Modules that stand above this one say here what an approval changes with them; it runs in the approval's transaction. */
export function onSkillApproved(handler: SkillApproved): () => void {
  skillApproved.add(handler)
  return () => void skillApproved.delete(handler)
}

/** Called once for every request that is approved or rejected, in the transaction that decides it. */
export function onRequestResolved(handler: RequestResolved): () => void {
  requestResolved.add(handler)
  return () => void requestResolved.delete(handler)
}

export interface Approval {
  subNumber: number
  verifiable?: boolean
  description?: string
}

/** Adds the skill, and settles what every organisation has asked for under that name. */
export async function approveRequest(
  tx: Tx,
  clock: Clock,
  id: string,
  { subNumber, verifiable = false, description = '' }: Approval,
): Promise<{ skill: ApprovedSkill; requests: SkillRequest[] }> {
  const { name, name_key: key } = await lockPending(tx, id)
  const { number } = await addSkill(tx, clock, {
    name,
    subNumber,
    source: 'request',
    sourceId: id,
    description,
    verifiable,
  })
  const requests = await resolve(tx, clock, { status: 'approved', skill_number: number }, { name_key: key })
  const skill = { number, name: tidy(name), nameKey: key }
  for (const handle of skillApproved) await handle(tx, skill, clock)
  await tellResolved(tx, requests, clock)
  return { skill, requests }
}

/** Turns this one request down; the same name asked by others is decided apart. */
export async function rejectRequest(tx: Tx, clock: Clock, id: string): Promise<SkillRequest> {
  await lockPending(tx, id)
  const [request] = await resolve(tx, clock, { status: 'rejected', skill_number: null }, { request_id: id })
  await tellResolved(tx, [request!], clock)
  return request!
}

async function resolve(
  tx: Tx,
  clock: Clock,
  outcome: Pick<SkillRequest, 'status' | 'skill_number'>,
  which: Partial<Pick<SkillRequest, 'name_key' | 'request_id'>>,
): Promise<SkillRequest[]> {
  const rows = await tx
    .updateTable('skill_requests')
    .set({ ...outcome, updated_at: new Date(clock.now()) })
    .where('status', '=', 'pending')
    .where(({ and }) => and(which))
    .returningAll()
    .execute()
  return (rows as SkillRequest[]).sort((a, b) => (a.request_id < b.request_id ? -1 : 1))
}

async function tellResolved(tx: Tx, requests: SkillRequest[], clock: Clock) {
  for (const request of requests) for (const handle of requestResolved) await handle(tx, request, clock)
}

/** The request, which nobody else can decide until the transaction ends; refused where somebody has. */
async function lockPending(tx: Tx, id: string): Promise<Pick<SkillRequest, 'name' | 'name_key'>> {
  const named = await tx.selectFrom('skill_requests').select('name_key').where('request_id', '=', id).executeTakeFirst()
  if (!named) throw problem('NOT_FOUND', `There is no skill request ${id}.`)
  await lockName(tx, named.name_key)
  const { name, name_key, status, skill_number } = await tx
    .selectFrom('skill_requests')
    .selectAll()
    .where('request_id', '=', id)
    .forUpdate()
    .executeTakeFirstOrThrow()
  if (status === 'pending') return { name, name_key }
  const outcome = skill_number === null ? status : `${status} (${skillId(skill_number)})`
  throw problem('CONFLICT', `${id} is decided already: ${outcome}.`)
}

/**
 * Requests for a name and decisions about it take turns. Without that, a request made while the same name is being approved
 * would see neither the skill nor the decision, and stay open for ever.
 */
async function lockName(tx: Tx, key: string) {
  await sql`select pg_advisory_xact_lock(hashtextextended(${`skill request ${key}`}, 0))`.execute(tx)
}
