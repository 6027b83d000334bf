import { sql } from 'kysely'
import { listAtsKeys } from '../../access/ats-keys.ts'
import type { OrgScope } from '../../access/caller.ts'
import { adapters, endpointUrls } from '../../ats/adapters.ts'
import { type AtsConnection, openCredentials } from '../../ats/connections.ts'
import { listTests, testName } from '../../ats/offered-mandates.ts'
import type { AtsOrder } from '../../ats/order.ts'
import { type AtsReport, listReports } from '../../ats/reports/reports.ts'
import type { Context } from '../../context.ts'
import { findMandateTitles } from '../../mandates/mandate-rows.ts'
import type { Queries } from '../../platform/database/database.ts'
import type { Vault } from '../../platform/vault.ts'

/** Returns a connection with its keys, and with the checks of its setup. */
export async function connectionRecord(
  { vault, config }: Pick<Context, 'vault' | 'config'>,
  queries: Queries,
  scope: OrgScope,
  connection: AtsConnection,
) {
  const { connection_id, mode, adapter, name, state, country, consent_basis, mandate_ids, created_at } = connection
  const keys = await listAtsKeys(queries, connection_id)
  const checks = await orderChecks(queries, connection_id)
  // An order is a call too. The use of a key is stored up to a second later.
  const calledAt = [...keys.map(({ last_used_at }) => last_used_at?.toISOString()), checks.ordered_at]
    .filter((time) => typeof time === 'string')
    .sort()
  return {
    connection_id,
    mode,
    adapter,
    title: adapters[adapter].title,
    name,
    state,
    api_url: connection.api_url ?? adapters[adapter].apiUrl?.default ?? null,
    country,
    consent_basis,
    mandate_ids,
    endpoints: endpointUrls(adapter, connection_id, config.publicUrl ?? ''),
    signs_calls: adapters[adapter].verifySignature !== undefined,
    missing_credentials: await missingCredentials(queries, vault, connection),
    created_at: created_at.toISOString(),
    keys: keys.map(({ key_id, revoked_at, created_at: createdAt, last_used_at }) => ({
      key_id,
      status: revoked_at ? ('revoked' as const) : ('active' as const),
      created_at: createdAt.toISOString(),
      last_used_at: last_used_at?.toISOString() ?? null,
    })),
    checks: {
      tests: (await listTests(queries, scope, connection_id)).length,
      called_at: calledAt.at(-1) ?? null,
      ...checks,
      tests_sent_at: connection.tests_sent_at?.toISOString() ?? null,
      tests_error: connection.tests_error,
      ats_error: connection.last_error,
      ats_error_at: connection.last_error_at?.toISOString() ?? null,
      paused_campaigns: await pausedCampaigns(queries, connection_id),
    },
  }
}

/** Returns the labels of the credentials that are still to be entered. */
async function missingCredentials(queries: Queries, vault: Vault, { connection_id, adapter, state }: AtsConnection) {
  const laterCredentials = adapters[adapter].credentials.filter(({ isLater }) => isLater)
  if (laterCredentials.length === 0 || state === 'disconnected') return []
  const credentials = await openCredentials(queries, vault, connection_id)
  return laterCredentials.filter(({ name }) => credentials[name] === undefined).map(({ label }) => label)
}

/** Returns the paused campaigns that open orders of the connection wait for. */
async function pausedCampaigns(queries: Queries, connectionId: string) {
  const { rows } = await sql<{ campaign_id: string; mandate_id: string; orders: number }>`
    select campaign_id, o.mandate_id, count(*)::int as orders from ats_orders o join campaigns c using (campaign_id)
    where o.connection_id = ${connectionId} and o.state in ('ordered', 'started') and c.hold = 'paused'
    group by campaign_id, o.mandate_id order by campaign_id`.execute(queries)
  const titles = await findMandateTitles(
    queries,
    rows.map(({ mandate_id }) => mandate_id),
  )
  return rows.map(({ campaign_id, mandate_id, orders }) => ({
    campaign_id,
    test_name: testName(titles.get(mandate_id)!),
    orders,
  }))
}

async function orderChecks(queries: Queries, connectionId: string) {
  const { rows } = await sql<{ ordered_at: Date | null; reported_at: Date | null; report_error: string | null }>`
    select (select max(created_at) from ats_orders where connection_id = ${connectionId}) as ordered_at,
      (select max(delivered_at) from ats_reports where connection_id = ${connectionId}) as reported_at,
      (select case when state <> 'delivered' then last_error end
        from ats_reports where connection_id = ${connectionId} and attempts > 0
        order by created_at desc, order_id desc, number desc limit 1) as report_error`.execute(queries)
  const { ordered_at, reported_at, report_error } = rows[0]!
  return {
    ordered_at: ordered_at?.toISOString() ?? null,
    reported_at: reported_at?.toISOString() ?? null,
    report_error,
  }
}

/** Returns orders with their reports. */
export async function orderRecords({ config }: Pick<Context, 'config'>, queries: Queries, orders: AtsOrder[]) {
  const reports = await listReports(
    queries,
    orders.map(({ order_id }) => order_id),
  )
  const reportsByOrder = Map.groupBy(reports, ({ order_id }) => order_id)
  const titles = await findMandateTitles(
    queries,
    orders.flatMap(({ mandate_id }) => mandate_id ?? []),
  )
  return orders.map((order) => ({
    order_id: order.order_id,
    connection_id: order.connection_id,
    adapter: order.adapter,
    mandate_id: order.mandate_id,
    test_name: order.mandate_id === null ? 'Unknown test' : testName(titles.get(order.mandate_id)!),
    campaign_id: order.campaign_id,
    candidate_id: order.candidate_id,
    person_id: order.person_id,
    candidate_name: order.candidate_name,
    profile_url: order.profile_url,
    consent_basis: order.consent_basis,
    state: order.state,
    is_paused: order.is_paused,
    summary: order.outcome?.summary ?? null,
    // The link without its signature, as in the stored reports.
    status_read:
      adapters[order.adapter].buildStatus?.(order, `${config.publicUrl ?? ''}/reports/${order.order_id}…`) ?? null,
    ats_errors: order.ats_errors ?? [],
    reports: (reportsByOrder.get(order.order_id) ?? []).map(reportRecord),
    created_at: order.created_at.toISOString(),
    updated_at: order.updated_at.toISOString(),
  }))
}

function reportRecord({ order_id: _, next_attempt_at, created_at, delivered_at, ...report }: AtsReport) {
  return {
    ...report,
    next_attempt_at: report.state === 'pending' ? next_attempt_at.toISOString() : null,
    created_at: created_at.toISOString(),
    delivered_at: delivered_at?.toISOString() ?? null,
  }
}
