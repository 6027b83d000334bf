import { sql } from 'kysely'
import { DAY } from '../../platform/clock.ts'
import type { Tx } from '../../platform/database/database.ts'

/** How an endpoint has fared lately, as far as partners are told. */
export interface Health {
  status: 'enabled' | 'failing'
  /** Start of a run of nothing but failures, or null. */
  failingSince: number | null
}

/** Nothing but failures for this long, and the owner is told. */
const FAILING_AFTER = DAY

/** What an attempt at that moment makes of the endpoint's health; the same object where nothing changes. */
export function judge(health: Health, taken: boolean, at: number): Health {
  if (taken) return health.failingSince === null ? health : { status: 'enabled', failingSince: null }
  if (health.failingSince === null) return { status: health.status, failingSince: at }
  const failing = health.status === 'enabled' && at - health.failingSince >= FAILING_AFTER
  return failing ? { ...health, status: 'failing' } : health
}

type EndpointFailing = (tx: Tx, webhookId: string) => Promise<void>

const endpointFailing = new Set<EndpointFailing>()

/** Called once when an endpoint is marked `failing`, in the transaction that marks it: whoever can tell the owner does. */
export function onEndpointFailing(handler: EndpointFailing): () => void {
  endpointFailing.add(handler)
  return () => void endpointFailing.delete(handler)
}

/** Writes it down; answers with the endpoints that are failing from now on. What its owner disabled stays disabled. */
export async function keepHealth(tx: Tx, changes: Map<string, Health>, now: number): Promise<string[]> {
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
  const failing = rows.filter((row) => row.failing).map(({ webhook_id }) => webhook_id)
  for (const id of failing) for (const handle of endpointFailing) await handle(tx, id)
  return failing
}
