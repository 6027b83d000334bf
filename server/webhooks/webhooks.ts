import { sql } from 'kysely'
import { type Changer, type OwnerScope, requireMadeHere } from '../access/caller.ts'
import { problem } from '../api/problem.ts'
import type { Context } from '../context.ts'
import { recordEvent } from '../events/record.ts'
import { type EventType, eventTypes } from '../events/types.ts'
import { announce, type Queries, type Tx } from '../platform/database/database.ts'
import { newId } from '../platform/ids.ts'
import { settleHeld, withdrawDeliveries } from './held-deliveries.ts'
import { newSecret, replaceSecret, type SealedSecrets } from './secrets.ts'

export const webhookStatuses = ['enabled', 'failing', 'disabled', 'archived'] as const
export type WebhookStatus = (typeof webhookStatuses)[number]

/** An endpoint of an organisation that its events are sent to. */
export interface Webhook extends SealedSecrets {
  webhook_id: string
  org_id: string
  mode: 'test' | 'live'
  url: string
  /** Null: every type. */
  event_types: EventType[] | null
  description: string | null
  status: WebhookStatus
  created_via: 'api' | 'playground'
  failing_since: Date | null
  times_disabled: number
  created_at: Date
  updated_at: Date
}

export interface WebhookInput {
  url: string
  event_types?: EventType[]
  description?: string
}

type Tools = Pick<Context, 'clock' | 'vault' | 'queue'>

export const MOST_WEBHOOKS = 5
/** PostgreSQL tells the workers on this channel whose endpoint is not what it was. */
export const WEBHOOK_CHANGED = 'webhook_changed'
export const WEBHOOK_MADE = 'webhook made'

/** What partners see of an endpoint. */
export function webhookRecord(webhook: Webhook) {
  const { webhook_id, url, event_types, description, status, created_via, created_at, updated_at } = webhook
  return {
    webhook_id,
    url,
    event_types: event_types ?? [...eventTypes],
    ...(description === null ? {} : { description }),
    status,
    created_via,
    created_at: created_at.toISOString(),
    updated_at: updated_at.toISOString(),
  }
}

/** The URL has been checked by now: that takes a look at the network, which no transaction waits for. */
export async function createWebhook(
  tx: Tx,
  { orgId, mode }: OwnerScope,
  { clock, vault }: Pick<Tools, 'clock' | 'vault'>,
  { url, event_types, description }: WebhookInput,
  createdVia: Webhook['created_via'] = 'api',
): Promise<{ webhook: Webhook; secret: string }> {
  await lockOwner(tx, { orgId, mode })
  const { count } = await webhooksOf(tx, { orgId, mode })
    .where('status', '<>', 'archived')
    .clearSelect()
    .select(({ fn }) => fn.countAll<number>().as('count'))
    .executeTakeFirstOrThrow()
  if (count >= MOST_WEBHOOKS) {
    throw problem('LIMIT_EXCEEDED', `There are ${MOST_WEBHOOKS} webhook endpoints already; archive one first.`)
  }
  const now = clock.now()
  const webhookId = newId('WH_', now)
  const secret = newSecret(vault, webhookId)
  const webhook = await tx
    .insertInto('webhooks')
    .values({
      webhook_id: webhookId,
      org_id: orgId,
      mode,
      url,
      event_types: event_types ?? null,
      description: description ?? null,
      status: 'enabled',
      created_via: createdVia,
      secret: secret.sealed,
      created_at: new Date(now),
      updated_at: new Date(now),
    })
    .returningAll()
    .executeTakeFirstOrThrow()
  announce(tx, WEBHOOK_MADE)
  return { webhook: webhook as Webhook, secret: secret.text }
}

export async function getWebhook(tx: Queries, scope: OwnerScope, id: string): Promise<Webhook> {
  const found = await webhooksOf(tx, scope).where('webhook_id', '=', id).executeTakeFirst()
  if (!found) throw notFound(id)
  return found as Webhook
}

/** Newest first. */
export async function listWebhooks(
  tx: Queries,
  scope: OwnerScope,
  { status, after, limit }: { status?: WebhookStatus | undefined; after?: string | undefined; limit: number },
): Promise<Webhook[]> {
  const found = await webhooksOf(tx, scope)
    .$if(status !== undefined, (query) => query.where('status', '=', status!))
    .$if(after !== undefined, (query) => query.where('webhook_id', '<', after!))
    .orderBy('webhook_id', 'desc')
    .limit(limit)
    .execute()
  return found as Webhook[]
}

/** Replaces all that can be set; what is left out is as on creation. Another address starts without the failures of the old one. */
export async function replaceWebhook(
  tx: Tx,
  scope: Changer,
  tools: Tools,
  id: string,
  { url, event_types, description }: WebhookInput,
): Promise<Webhook> {
  const webhook = await lockChangeable(tx, scope, id)
  const fresh = webhook.url !== url && webhook.status !== 'disabled'
  return change(tx, tools, webhook, {
    url,
    event_types: event_types ?? null,
    description: description ?? null,
    ...(fresh ? { status: 'enabled', failing_since: null } : {}),
  })
}

/** What still waits to be sent to it is sent no more. */
export async function archiveWebhook(tx: Tx, scope: Changer, tools: Tools, id: string): Promise<Webhook> {
  const webhook = await lockOwn(tx, scope, id)
  if (webhook.status === 'archived') return webhook
  await tools.queue.enqueue(tx, withdrawDeliveries, { webhook_id: id })
  return change(tx, tools, webhook, { status: 'archived' })
}

export async function rotateSecret(
  tx: Tx,
  scope: Changer,
  tools: Tools,
  id: string,
): Promise<{ webhook: Webhook; secret: string }> {
  const webhook = await lockChangeable(tx, scope, id)
  const { text, columns } = replaceSecret(webhook, tools.vault, tools.clock.now())
  return { webhook: await change(tx, tools, webhook, columns), secret: text }
}

/** From here on, what is addressed to it is held. */
export async function disableWebhook(tx: Tx, scope: Changer, tools: Tools, id: string): Promise<Webhook> {
  const webhook = await lockChangeable(tx, scope, id)
  if (webhook.status === 'disabled') return webhook
  return change(tx, tools, webhook, { status: 'disabled', times_disabled: webhook.times_disabled + 1 })
}

/** `recover`: what was held meanwhile is sent; otherwise it is withdrawn. What was addressed before is sent in either case. */
export async function enableWebhook(
  tx: Tx,
  scope: Changer,
  tools: Tools,
  id: string,
  recover: boolean,
): Promise<Webhook> {
  const webhook = await lockChangeable(tx, scope, id)
  if (webhook.status !== 'disabled') return webhook
  await tools.queue.enqueue(tx, settleHeld, { webhook_id: id, period: webhook.times_disabled, recover })
  return change(tx, tools, webhook, { status: 'enabled', failing_since: null })
}

/** An event for this endpoint alone, whatever types it asked for. */
export async function testWebhook(tx: Tx, scope: OwnerScope, tools: Tools, id: string): Promise<string> {
  const webhook = await getWebhook(tx, scope, id)
  requireActive(webhook)
  return recordEvent(tx, scope, tools.clock, 'webhook.test', webhookRecord(webhook))
}

/** Refuses what cannot be sent to now. */
export function requireActive({ status }: Webhook): void {
  if (status === 'archived') throw problem('CONFLICT', 'This endpoint is archived.')
  if (status === 'disabled') throw problem('CONFLICT', 'This endpoint is disabled; enable it first.')
}

async function change(
  tx: Tx,
  { clock }: Tools,
  { webhook_id }: Webhook,
  values: Partial<Omit<Webhook, 'webhook_id' | 'org_id' | 'mode'>>,
): Promise<Webhook> {
  const changed = await tx
    .updateTable('webhooks')
    .set({ ...values, updated_at: new Date(clock.now()) })
    .where('webhook_id', '=', webhook_id)
    .returningAll()
    .executeTakeFirstOrThrow()
  await sql`select pg_notify(${WEBHOOK_CHANGED}, ${webhook_id})`.execute(tx)
  return changed as Webhook
}

async function lockChangeable(tx: Tx, scope: Changer, id: string): Promise<Webhook> {
  const webhook = await lockOwn(tx, scope, id)
  if (webhook.status === 'archived') throw problem('CONFLICT', 'An archived endpoint cannot change.')
  return webhook
}

async function lockOwn(tx: Tx, scope: Changer, id: string): Promise<Webhook> {
  const webhook = await webhooksOf(tx, scope).where('webhook_id', '=', id).forUpdate().executeTakeFirst()
  if (!webhook) throw notFound(id)
  requireMadeHere('endpoint', webhook.created_via, scope)
  return webhook as Webhook
}

function webhooksOf(tx: Queries, { orgId, mode }: OwnerScope) {
  return tx.selectFrom('webhooks').selectAll().where('org_id', '=', orgId).where('mode', '=', mode)
}

/** Two that are made at once are counted one after the other. */
async function lockOwner(tx: Tx, { orgId, mode }: OwnerScope) {
  await sql`select pg_advisory_xact_lock(hashtextextended(${`webhooks of ${orgId} ${mode}`}, 0))`.execute(tx)
}

function notFound(id: string) {
  return problem('NOT_FOUND', `There is no webhook endpoint ${id}.`)
}
