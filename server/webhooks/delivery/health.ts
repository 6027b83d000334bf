import { sql } from 'kysely'
import type { Context } from '../../context.ts'
import { DAY } from '../../platform/clock.ts'
import type { Tx } from '../../platform/database/database.ts'
import { defineHook } from '../../platform/hook.ts'

export interface EndpointHealth {
  status: 'enabled' | 'failing'
  /** Time of the first failure after the last success, or null. */
  failingSince: number | null
}

/** An endpoint whose attempts have all failed for this long is marked as failing. */
const FAILING_AFTER_MS = DAY

/** Returns the health after an attempt; the same object if nothing changes. */
export function nextHealth(health: EndpointHealth, delivered: boolean, attemptedAt: number): EndpointHealth {
  if (delivered) return health.failingSince === null ? health : { status: 'enabled', failingSince: null }
  if (health.failingSince === null) return { status: health.status, failingSince: attemptedAt }
  const isFailing = health.status === 'enabled' && attemptedAt - health.failingSince >= FAILING_AFTER_MS
  return isFailing ? { ...health, status: 'failing' } : health
}

/** The dependencies of `endpointFailing` handlers. */
export type HealthDeps = Pick<Context, 'clock' | 'config' | 'queue' | 'vault' | 'mailboxes'>

/** Runs once when an endpoint is marked `failing`, in the transaction that marks it, to notify its owners. */
export const endpointFailing =
  defineHook<[tx: Tx, deps: HealthDeps, webhookId: string]>('endpointFailing').handledBy('console')

/** Stores health changes, except the status of disabled endpoints. Returns the IDs of the endpoints that became failing. */
export async function saveHealth(tx: Tx, deps: HealthDeps, changes: Map<string, EndpointHealth>): Promise<string[]> {
  const now = deps.clock.now()
  if (changes.size === 0) return []
  const entries = [...changes].sort(([a], [b]) => (a < b ? -1 : 1))
  const { rows } = await sql<{ webhook_id: string; failing: boolean }>`
    update webhooks w set
      failing_since = c.failing_since,
      status = case when w.status in ('enabled', 'failing') then c.status else w.status end,
      updated_at = case when w.status in ('enabled', 'failing') and w.status <> c.status then ${new Date(now)} else w.updated_at end
    from unnest(
      ${entries.map(([id]) => id)}::text[], ${entries.map(([, { status }]) => status)}::text[],
      ${entries.map(([, { failingSince }]) => (failingSince === null ? null : new Date(failingSince)))}::timestamptz[]
    ) as c (webhook_id, status, failing_since)
    join webhooks before on before.webhook_id = c.webhook_id
    where w.webhook_id = c.webhook_id
    returning w.webhook_id, w.status = 'failing' and before.status <> 'failing' as failing`.execute(tx)
  const failingIds = rows.filter((row) => row.failing).map(({ webhook_id }) => webhook_id)
  for (const id of failingIds) await endpointFailing.run(tx, deps, id)
  return failingIds
}
