import { sql } from 'kysely'
import { isNotPaused } from '../access/service-switch.ts'
import type { Context } from '../context.ts'
import type { Queries, Tx } from '../platform/database/database.ts'
import {
  type DueRow,
  type IsolatedWork,
  isNoDeadLetter,
  nextDeadLetterRetry,
  processIsolated,
} from '../platform/jobs/dead-letters.ts'
import { startDuePoller } from '../platform/jobs/due-poller.ts'
import type { BackgroundActivity } from '../platform/jobs/queue.ts'
import type { SourceKind } from './facts.ts'
import { CREDENTIALS_DUE, findConsent } from './holders/consents.ts'
import { issueCredentials } from './issue.ts'
import { findSource } from './sources.ts'

/** Issues the credentials of sessions and candidacies that have ended with consent. Any number of processes may run this concurrently. */
export function startCredentialEngine(context: Context): BackgroundActivity {
  const { db, clock, log, keyring } = context
  const poller = startDuePoller({
    clock,
    nextDueAt: () => nextIssueDue(context),
    work: (isStopped) => issueDueCredentials(context, isStopped),
    onError: (error) => log.warn({ err: error }, 'issuing credentials failed, retrying'),
  })
  db.onCommitted(CREDENTIALS_DUE, poller.wake)
  keyring.onPauseChanged(poller.wake)
  return { stop: poller.stop }
}

/** Issues the credentials that are due now. Those of paused organisations wait. */
export async function issueDueCredentials(context: Context, isStopped: () => boolean = () => false): Promise<void> {
  await context.keyring.ensureFresh()
  const work: IsolatedWork = {
    queue: 'issue-credentials',
    process: (tx, _limit, onlyId) => issueNext(tx, context, onlyId),
    listDue: (queries, limit) => listDue(queries, context, limit),
  }
  while (!isStopped() && (await processIsolated(context, work, 1)) > 0);
}

async function nextIssueDue(context: Context): Promise<number | undefined> {
  const { rows } = await sql<{ due: Date | null }>`
    select least(
      (select min(issue_due_at) from credential_consents
        where issue_due_at is not null and ${isProcessable(context)} and ${isNoDeadLetter('issue-credentials', sql`source_id`)}),
      ${nextDeadLetterRetry('issue-credentials')}) as due`.execute(context.db.queries)
  return rows[0]!.due?.getTime()
}

async function listDue(queries: Queries, context: Context, limit: number): Promise<DueRow[]> {
  const { rows } = await sql<DueRow>`
    select source_id as id, org_id as "orgId", mode from credential_consents
    where ${isDue(context)} order by issue_due_at limit ${limit}`.execute(queries)
  return rows
}

function isDue(context: Context, onlyId?: string, orgId = sql`org_id`) {
  return sql`issue_due_at <= ${new Date(context.clock.now())} and ${isProcessable(context, orgId)}
    and ${onlyId === undefined ? isNoDeadLetter('issue-credentials', sql`source_id`) : sql`source_id = ${onlyId}`}`
}

function isProcessable({ keyring }: Context, orgId = sql`org_id`) {
  return isNotPaused(orgId, keyring.pausedOrganisations())
}

/**
 * Issues the credentials of one session or candidacy, and returns how many were due. The holder is locked too, so that a person who is
 * erased at the same time gets none.
 */
async function issueNext(tx: Tx, context: Context, onlyId?: string): Promise<number> {
  const { rows } = await sql<{ source_kind: SourceKind; source_id: string }>`
    select c.source_kind, c.source_id from credential_consents c join credential_holders h using (holder_id)
    where ${isDue(context, onlyId, sql`c.org_id`)} order by c.issue_due_at limit 1 for no key update of c, h skip locked`.execute(
    tx,
  )
  if (!rows[0]) return 0
  const { source_kind: kind, source_id: id } = rows[0]
  await sql`update credential_consents set issue_due_at = null where source_kind = ${kind} and source_id = ${id}`.execute(
    tx,
  )
  const consent = (await findConsent(tx, kind, id))!
  const source = await findSource(tx, kind, id, context.clock)
  if (!consent.wanted || !source?.hasEnded) return 1
  const { holder_id: holderId, show_name: showName, language } = consent
  await issueCredentials(tx, context, source, { holderId, showName, language })
  return 1
}
