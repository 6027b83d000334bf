import { sql } from 'kysely'
import { type OrgScope, requireCreatedVia, type WriteScope } from '../access/caller.ts'
import { problem } from '../api/problem.ts'
import type { Context } from '../context.ts'
import { recordEvent } from '../events/record.ts'
import { type EventType, eventTypes } from '../events/types.ts'
import { notifyAfterCommit, type Queries, type Tx } from '../platform/database/database.ts'
import { newId } from '../platform/ids.ts'
import { defineJob } from '../platform/jobs/queue.ts'
import { newSecret, replaceSecret, type SealedSecrets } from './secrets.ts'

export const webhookStatuses = ['enabled', 'failing', 'disabled', 'archived'] as const
export type WebhookStatus = (typeof webhookStatuses)[number]

/** A URL to which an organisation's events are delivered. */
export interface Webhook extends SealedSecrets {
  webhook_id: string
  org_id: string
  mode: 'test' | 'live'
  url: string
  /** The event types to send; null for all types. */
  event_types: EventType[] | null
  description: string | null
  status: WebhookStatus
  created_via: 'api' | 'playground'
  failing_since: Date | null
  /** Number of times that the webhook was disabled; identifies the deliveries held since the last time. */
  times_disabled: number
  created_at: Date
  updated_at: Date
}

export interface WebhookInput {
  url: string
  event_types?: EventType[]
  description?: string
}

/** Job that sends or withdraws the deliveries that were held while an endpoint was disabled. There can be a million. */
export const releaseOrWithdrawHeldDeliveries = defineJob<{ webhook_id: string; period: number; recover: boolean }>(
  'settle-held-deliveries',
  { timeoutSeconds: 3600 },
)

/** Job that ends the pending deliveries of an archived endpoint. */
export const withdrawDeliveries = defineJob<{ webhook_id: string }>('withdraw-deliveries', { timeoutSeconds: 3600 })

type WebhookDeps = Pick<Context, 'clock' | 'vault' | 'queue'>

const MAX_WEBHOOKS_PER_MODE = 5
/** PostgreSQL notification channel. The payload is the ID of the webhook that changed. */
export const WEBHOOK_CHANGED = 'webhook_changed'
/** Notification after a webhook was created. */
export const WEBHOOK_CREATED = 'webhook created'

/** Returns the API representation of a webhook. */
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

/** Creates a webhook. The caller has validated the URL, because that involves DNS and must not run in a transaction. */
export async function createWebhook(
  tx: Tx,
  { orgId, mode }: OrgScope,
  { clock, vault }: Pick<WebhookDeps, 'clock' | 'vault'>,
  { url, event_types, description }: WebhookInput,
  createdVia: Webhook['created_via'] = 'api',
): Promise<{ webhook: Webhook; secret: string }> {
  await lockOrganisation(tx, { orgId, mode })
  const { count } = await webhooksOf(tx, { orgId, mode })
    .where('status', '<>', 'archived')
    .clearSelect()
    .select(({ fn }) => fn.countAll<number>().as('count'))
    .executeTakeFirstOrThrow()
  if (count >= MAX_WEBHOOKS_PER_MODE) {
    throw problem(
      'LIMIT_EXCEEDED',
      `The organisation already has ${MAX_WEBHOOKS_PER_MODE} webhook endpoints in ${mode.toUpperCase()} mode. List them with GET /webhooks, and archive one with DELETE /webhooks/{webhook_id}.`,
    )
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
  notifyAfterCommit(tx, WEBHOOK_CREATED)
  return { webhook: webhook as Webhook, secret: secret.text }
}

export async function getWebhook(tx: Queries, scope: OrgScope, id: string): Promise<Webhook> {
  const webhook = await webhooksOf(tx, scope).where('webhook_id', '=', id).executeTakeFirst()
  if (!webhook) throw webhookNotFound(id)
  return webhook as Webhook
}

/** Returns webhooks, newest first. */
export async function listWebhooks(
  tx: Queries,
  scope: OrgScope,
  { status, after, limit }: { status?: WebhookStatus | undefined; after?: string | undefined; limit: number },
): Promise<Webhook[]> {
  const webhooks = await webhooksOf(tx, scope)
    .$if(status !== undefined, (query) => query.where('status', '=', status!))
    .$if(after !== undefined, (query) => query.where('webhook_id', '<', after!))
    .orderBy('webhook_id', 'desc')
    .limit(limit)
    .execute()
  return webhooks as Webhook[]
}

/** Replaces all fields; omitted ones get their defaults. A new URL resets the `failing` status. */
export async function replaceWebhook(
  tx: Tx,
  scope: WriteScope,
  deps: WebhookDeps,
  id: string,
  { url, event_types, description }: WebhookInput,
): Promise<Webhook> {
  const webhook = await lockUnarchivedWebhook(tx, scope, id)
  const resetsStatus = webhook.url !== url && webhook.status !== 'disabled'
  return updateWebhook(tx, deps, webhook, {
    url,
    event_types: event_types ?? null,
    description: description ?? null,
    ...(resetsStatus ? { status: 'enabled', failing_since: null } : {}),
  })
}

/** Archives the webhook and ends its pending deliveries. */
export async function archiveWebhook(tx: Tx, scope: WriteScope, deps: WebhookDeps, id: string): Promise<Webhook> {
  const webhook = await lockWebhook(tx, scope, id)
  if (webhook.status === 'archived') return webhook
  await deps.queue.enqueue(tx, withdrawDeliveries, { webhook_id: id })
  return updateWebhook(tx, deps, webhook, { status: 'archived' })
}

export async function rotateSecret(
  tx: Tx,
  scope: WriteScope,
  deps: WebhookDeps,
  id: string,
): Promise<{ webhook: Webhook; secret: string }> {
  const webhook = await lockUnarchivedWebhook(tx, scope, id)
  const { text, columns } = replaceSecret(webhook, deps.vault, deps.clock.now())
  return { webhook: await updateWebhook(tx, deps, webhook, columns), secret: text }
}

/** Disables the webhook. New deliveries to it are held. */
export async function disableWebhook(tx: Tx, scope: WriteScope, deps: WebhookDeps, id: string): Promise<Webhook> {
  const webhook = await lockUnarchivedWebhook(tx, scope, id)
  if (webhook.status === 'disabled') return webhook
  return updateWebhook(tx, deps, webhook, { status: 'disabled', times_disabled: webhook.times_disabled + 1 })
}

/** Enables the webhook. Sends the deliveries held while it was disabled if `recover` is true, and withdraws them otherwise. */
export async function enableWebhook(
  tx: Tx,
  scope: WriteScope,
  deps: WebhookDeps,
  id: string,
  recover: boolean,
): Promise<Webhook> {
  const webhook = await lockUnarchivedWebhook(tx, scope, id)
  if (webhook.status !== 'disabled') return webhook
  await deps.queue.enqueue(tx, releaseOrWithdrawHeldDeliveries, {
    webhook_id: id,
    period: webhook.times_disabled,
    recover,
  })
  return updateWebhook(tx, deps, webhook, { status: 'enabled', failing_since: null })
}

/** Records a test event for this webhook only, regardless of its event types. Returns the event ID. */
export async function testWebhook(tx: Tx, scope: OrgScope, deps: WebhookDeps, id: string): Promise<string> {
  const webhook = await getWebhook(tx, scope, id)
  requireActiveWebhook(webhook)
  return recordEvent(tx, scope, deps.clock, 'webhook.test', webhookRecord(webhook))
}

/** Throws if the webhook is archived or disabled. */
export function requireActiveWebhook({ status }: Webhook): void {
  if (status === 'archived') throw problem('CONFLICT', 'This webhook endpoint is archived; create another one.')
  if (status === 'disabled') throw problem('CONFLICT', 'This webhook endpoint is disabled. Enable it first.')
}

async function updateWebhook(
  tx: Tx,
  { clock }: WebhookDeps,
  { webhook_id }: Webhook,
  values: Partial<Omit<Webhook, 'webhook_id' | 'org_id' | 'mode'>>,
): Promise<Webhook> {
  const updatedWebhook = await tx
    .updateTable('webhooks')
    .set({ ...values, updated_at: new Date(clock.now()) })
    .where('webhook_id', '=', webhook_id)
    .returningAll()
    .executeTakeFirstOrThrow()
  await sql`select pg_notify(${WEBHOOK_CHANGED}, ${webhook_id})`.execute(tx)
  return updatedWebhook as Webhook
}

async function lockUnarchivedWebhook(tx: Tx, scope: WriteScope, id: string): Promise<Webhook> {
  const webhook = await lockWebhook(tx, scope, id)
  if (webhook.status === 'archived') throw problem('CONFLICT', 'An archived webhook endpoint cannot be changed.')
  return webhook
}

async function lockWebhook(tx: Tx, scope: WriteScope, id: string): Promise<Webhook> {
  const webhook = await webhooksOf(tx, scope).where('webhook_id', '=', id).forUpdate().executeTakeFirst()
  if (!webhook) throw webhookNotFound(id)
  requireCreatedVia('webhook endpoint', webhook.created_via, scope)
  return webhook as Webhook
}

function webhooksOf(tx: Queries, { orgId, mode }: OrgScope) {
  return tx.selectFrom('webhooks').selectAll().where('org_id', '=', orgId).where('mode', '=', mode)
}

/** Serialises concurrent creations, so that together they do not exceed the limit. */
async function lockOrganisation(tx: Tx, { orgId, mode }: OrgScope) {
  await sql`select pg_advisory_xact_lock(hashtextextended(${`webhooks of ${orgId} ${mode}`}, 0))`.execute(tx)
}

function webhookNotFound(id: string) {
  return problem('NOT_FOUND', `Webhook endpoint ${id} not found.`)
}
