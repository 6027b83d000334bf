import { sql } from 'kysely'
import { isNotPaused, type PausedOrganisations } from '../../access/service-switch.ts'
import type { Context } from '../../context.ts'
import { MINUTE, SECOND } from '../../platform/clock.ts'
import { notifyAfterCommit, type Queries } from '../../platform/database/database.ts'
import { newId } from '../../platform/ids.ts'
import { parseJsonOrUndefined } from '../../platform/json.ts'
import { openSender } from '../../webhooks/delivery/sender.ts'
import { createSigner } from '../../webhooks/delivery/signature.ts'
import { resolveName } from '../../webhooks/target-rules.ts'
import { findCandidacies, lockCandidacies } from '../candidacy.ts'
import { CONTACT_DUE } from '../contact/messages.ts'
import { recordTransitions } from '../progress.ts'
import { endPendingChecks, findDndCheck, openDndSecret, targetRules } from './dnd-check.ts'

type CheckDeps = Pick<Context, 'db' | 'vault' | 'clock' | 'config' | 'log' | 'keyring'>

/** Numbers per request. */
const BATCH_SIZE = 200
const REQUEST_TIMEOUT_MS = 10 * SECOND
/** Longer than the timeout. After a crash, the check is repeated when the lease has expired. */
const LEASE_MS = MINUTE
const RETRY_DELAY_MS = 5 * MINUTE
const MAX_RESPONSE_BYTES = 64 * 1024

/**
 * Checks the due LIVE candidates of organisations with a DND check before they are contacted for the first time. Candidates whose number is
 * blocked fail as unreachable, and their credit is refunded. If a check fails, no waiting candidate of the organisation is contacted until a later
 * check succeeds.
 */
export async function runDndChecks(
  deps: CheckDeps,
  { isStopped = () => false, ca }: { isStopped?: () => boolean; ca?: string } = {},
): Promise<void> {
  let hasMore = true
  while (hasMore && !isStopped()) {
    const batches = await claimChecks(deps)
    hasMore = batches.some(({ candidateIds }) => candidateIds.length === BATCH_SIZE)
    await Promise.all(batches.map((batch) => checkBatch(deps, batch, ca)))
  }
}

/** Returns when the next check is due, in epoch milliseconds, which may be in the past. Ignores paused organisations and campaigns. */
export async function nextDndCheckDue(queries: Queries, paused: PausedOrganisations): Promise<number | undefined> {
  const { rows } = await sql<{ due: Date | null }>`
    select min(greatest(t.due_at, t.dnd_check_at)) as due from contacts t join campaigns g using (campaign_id)
    where t.dnd_check_at is not null and t.due_at is not null and not t.held and not t.restricted
      and ${isNotPaused(sql`g.org_id`, paused)}`.execute(queries)
  return rows[0]!.due?.getTime()
}

interface CheckBatch {
  orgId: string
  candidateIds: string[]
}

async function claimChecks({ db, clock, keyring }: CheckDeps): Promise<CheckBatch[]> {
  const now = new Date(clock.now())
  const isDue = sql`t.dnd_check_at <= ${now} and t.due_at <= ${now} and not t.held and not t.restricted`
  const { rows: due } = await sql`select from contacts t where ${isDue} limit 1`.execute(db.queries)
  if (due.length === 0) return []
  return db.transaction(async (tx) => {
    const { rows: organisations } = await sql<{ org_id: string }>`
      select distinct g.org_id from contacts t join campaigns g using (campaign_id)
      where ${isDue} and ${isNotPaused(sql`g.org_id`, keyring.pausedOrganisations())} limit 20`.execute(tx)
    const batches: CheckBatch[] = []
    for (const { org_id: orgId } of organisations) {
      const { rows } = await sql<{ candidate_id: string }>`
        update contacts set dnd_check_at = ${new Date(clock.now() + LEASE_MS)} where candidate_id in (
          select t.candidate_id from contacts t join campaigns g using (campaign_id)
          where g.org_id = ${orgId} and ${isDue} order by t.due_at limit ${BATCH_SIZE} for update of t skip locked
        ) returning candidate_id`.execute(tx)
      if (rows.length > 0) batches.push({ orgId, candidateIds: rows.map(({ candidate_id }) => candidate_id) })
    }
    return batches
  })
}

async function checkBatch(deps: CheckDeps, { orgId, candidateIds }: CheckBatch, ca: string | undefined): Promise<void> {
  const { db, clock, log } = deps
  const numbers = (await findCandidacies(db.queries, candidateIds)).flatMap(({ candidate_id, phone }) =>
    phone === null ? [] : [{ id: candidate_id, phone }],
  )
  const answer = numbers.length === 0 ? { blockedIds: [] } : await requestBlocked(deps, orgId, numbers, ca)
  if (answer === 'removed') return db.transaction((tx) => endPendingChecks(tx, orgId))
  const now = new Date(clock.now())
  if ('error' in answer) {
    log.warn({ org: orgId, reason: answer.error }, 'DND check failed, retrying in 5 minutes')
    await db.transaction(async (tx) => {
      await sql`update dnd_checks set failing_since = coalesce(failing_since, ${now}), last_error = ${answer.error}
        where org_id = ${orgId}`.execute(tx)
      // All checks of the organisation wait, because the others would fail, too.
      const retryAt = new Date(now.getTime() + RETRY_DELAY_MS)
      await sql`update contacts set dnd_check_at = ${retryAt} where candidate_id in (
        select t.candidate_id from contacts t join campaigns g using (campaign_id)
        where g.org_id = ${orgId} and t.dnd_check_at < ${retryAt} for update of t skip locked)`.execute(tx)
    })
    return
  }
  await db.transaction(async (tx) => {
    const candidates = await lockCandidacies(tx, candidateIds)
    await sql`update candidates set dnd_checked_at = ${now}, dnd_blocked = candidate_id = any (${answer.blockedIds}::text[])
      where candidate_id = any (${numbers.map(({ id }) => id)}::text[])`.execute(tx)
    await sql`update contacts set dnd_check_at = null where candidate_id = any (${candidateIds})`.execute(tx)
    await recordTransitions(
      tx,
      clock,
      candidates
        .filter(({ candidate_id, status }) => status === 'pending' && answer.blockedIds.includes(candidate_id))
        .map((before) => ({ before, end: { status: 'failed', reason: 'unreachable' }, refund: true })),
    )
    notifyAfterCommit(tx, CONTACT_DUE)
  })
  // In its own transaction, because enrolments lock the campaign before this row.
  await sql`update dnd_checks set last_success_at = ${now}, failing_since = null, last_error = null
    where org_id = ${orgId}`.execute(db.queries)
}

/**
 * Checks one number that belongs to no candidate. Returns whether the organisation may send messages to it; `failed` if the check did not
 * respond. An organisation without a check may write to every number.
 */
export async function checkNumber(
  deps: Pick<CheckDeps, 'db' | 'vault' | 'clock' | 'config'>,
  orgId: string,
  number: { id: string; phone: string },
  ca?: string,
): Promise<'allowed' | 'blocked' | 'failed'> {
  const answer = await requestBlocked(deps, orgId, [number], ca)
  if (answer === 'removed') return 'allowed'
  if ('error' in answer) return 'failed'
  return answer.blockedIds.length === 0 ? 'allowed' : 'blocked'
}

/** Requests the IDs of the blocked numbers, if the organisation still has a check. The response must contain a result for each number. */
async function requestBlocked(
  { db, vault, clock, config }: Pick<CheckDeps, 'db' | 'vault' | 'clock' | 'config'>,
  orgId: string,
  numbers: { id: string; phone: string }[],
  ca: string | undefined,
): Promise<{ blockedIds: string[] } | { error: string } | 'removed'> {
  const check = await findDndCheck(db.queries, orgId)
  const secret = await openDndSecret(db.queries, vault, orgId)
  if (!check || secret === undefined) return 'removed'
  const sender = await openSender({
    url: check.url,
    maxConnections: 1,
    mode: 'live',
    rules: targetRules(config),
    resolve: resolveName,
    timeoutMs: REQUEST_TIMEOUT_MS,
    maxStoredBytes: MAX_RESPONSE_BYTES,
    ...(ca === undefined ? {} : { ca }),
  })
  try {
    const id = newId('DN_', clock.now())
    const timestamp = Math.floor(clock.now() / 1000)
    const body = JSON.stringify({ org_id: orgId, numbers })
    const headers = ['content-type', 'application/json', 'webhook-id', id, 'webhook-timestamp', String(timestamp)]
    const { error, responseText } = await sender.send(
      [...headers, 'webhook-signature', createSigner([secret])(id, timestamp, body)],
      body,
    )
    return error === null ? readResults(responseText, numbers) : { error }
  } finally {
    sender.close()
  }
}

function readResults(text: string, numbers: { id: string }[]): { blockedIds: string[] } | { error: string } {
  const { results } = (parseJsonOrUndefined(text) ?? {}) as { results?: { id?: unknown; blocked?: unknown }[] }
  if (!Array.isArray(results)) return { error: 'the response has no list `results`' }
  const blockedById = new Map(results.map((result) => [result?.id, result?.blocked]))
  const missing = numbers.find(({ id }) => typeof blockedById.get(id) !== 'boolean')
  if (missing) return { error: `the response has no result for ${missing.id}; send { "id", "blocked": true or false }` }
  return { blockedIds: numbers.map(({ id }) => id).filter((id) => blockedById.get(id) === true) }
}
