import { sql } from 'kysely'
import type { Campaign } from '../campaigns/campaigns.ts'
import type { CandidateChange } from '../campaigns/progress.ts'
import type { Clock } from '../platform/clock.ts'
import type { Tx } from '../platform/database/database.ts'
import { type AdapterName, adapterNames, type ReportKind } from './adapter.ts'
import { adapters } from './adapters.ts'
import type { OrderState } from './order-state.ts'
import { ORDER_METADATA_KEY } from './orders.ts'
import { type Outcome, outcomeOf } from './outcome.ts'
import { type NewReport, queueReport } from './reports/reports.ts'

interface OrderRow {
  order_id: string
  org_id: string
  mode: 'test' | 'live'
  adapter: AdapterName
  connection_id: string
  connection_state: 'active' | 'disconnected'
  state: OrderState
}

/**
 * Updates the orders of candidates that started or ended, and queues the reports, in the transaction of the change: a result that is
 * stored is also reported.
 */
export async function recordOrderChanges(tx: Tx, changes: CandidateChange[], clock: Clock): Promise<void> {
  // Most candidates were not ordered by an ATS; their changes need no query.
  for (const change of changes) {
    const orderId = change.candidate.metadata[ORDER_METADATA_KEY]
    if (orderId !== undefined && (change.ended || change.reached.includes('consented')))
      await recordOrderChange(tx, clock, orderId, change)
  }
}

async function recordOrderChange(tx: Tx, clock: Clock, orderId: string, change: CandidateChange): Promise<void> {
  const { orgId, mode, candidate } = change
  // Partners may send any metadata, so the order must be that of the candidate.
  const { rows } = await sql<OrderRow>`
    select order_id, o.org_id, o.mode, o.adapter, connection_id, c.state as connection_state, o.state
    from ats_orders o join ats_connections c using (connection_id)
    where order_id = ${orderId} and candidate_id = ${candidate.candidate_id} and o.org_id = ${orgId} and o.mode = ${mode}
    for update of o`.execute(tx)
  const order = rows[0]
  if (!order) return
  if (change.reached.includes('consented') && order.state === 'ordered')
    await setState(tx, clock, order, 'started', null)
  if (change.reached.includes('consented')) await queueIfReported('started')
  if (!change.ended) return
  const isCancelled = order.state === 'cancelled'
  await setState(tx, clock, order, isCancelled ? 'cancelled' : change.ended, outcomeOf(candidate, isCancelled))
  await queueIfReported(isCancelled ? 'cancelled' : 'result')

  async function queueIfReported(kind: ReportKind) {
    const { reports } = adapters[order!.adapter]
    if (!reports.has(kind) || order!.connection_state !== 'active') return
    await queueReport(tx, clock, { ...order!, kind, version: candidate.version })
  }
}

/** Queues a report for each open order of a campaign that was paused or resumed. Archiving a campaign ends its orders. */
export async function queueHoldReports(tx: Tx, clock: Clock, { campaign_id, hold }: Campaign): Promise<void> {
  if (hold === 'archived') return
  const kind = hold === 'paused' ? 'paused' : 'resumed'
  const { rows } = await sql<Omit<NewReport, 'kind'>>`
    select order_id, o.org_id, o.mode, connection_id, p.version
    from ats_orders o join ats_connections c using (connection_id) join candidate_progress p using (candidate_id)
    where o.campaign_id = ${campaign_id} and o.state in ('ordered', 'started') and c.state = 'active'
      and o.adapter = any (${adapterNames.filter((name) => adapters[name].reports.has(kind))}::text[])
    order by order_id for update of o`.execute(tx)
  for (const order of rows) await queueReport(tx, clock, { ...order, kind })
}

async function setState(tx: Tx, clock: Clock, order: OrderRow, state: OrderState, outcome: Outcome | null) {
  await sql`update ats_orders set state = ${state}, outcome = ${outcome === null ? null : JSON.stringify(outcome)}::jsonb,
    updated_at = ${new Date(clock.now())} where order_id = ${order.order_id}`.execute(tx)
}
