import type { Clock } from '../../platform/clock.ts'
import type { Database } from '../../platform/database/database.ts'
import type { Vault } from '../../platform/vault.ts'
import { signingSecrets } from '../secrets.ts'
import type { Webhook } from '../webhooks.ts'
import type { ConnectorOptions } from './connector.ts'
import { MAX_WINDOW } from './delivery-queue.ts'
import type { DueDelivery } from './due.ts'
import { type EndpointSender, openSender, type SendResult } from './sender.ts'
import { createSigner, type SignFunction } from './signature.ts'

/** A webhook that deliveries are sent to, with its connections and signing secrets. */
export interface DeliveryTarget {
  webhook: Webhook
  sender: EndpointSender
  sign: SignFunction
  /** Time at which the first of the secrets expires and `sign` is replaced, in epoch milliseconds. */
  signUntil: number
}

export interface TargetDeps extends Omit<ConnectorOptions, 'mode'> {
  db: Database
  clock: Clock
  vault: Vault
}

/**
 * Loads the target of a webhook; undefined if it is disabled or archived. Reuses the connections of the previous target if the
 * URL is the same.
 */
export async function loadTarget(
  webhookId: string,
  previous: DeliveryTarget | undefined,
  deps: TargetDeps,
): Promise<DeliveryTarget | undefined> {
  const webhook = (await deps.db.queries
    .selectFrom('webhooks')
    .selectAll()
    .where('webhook_id', '=', webhookId)
    .where('status', 'in', ['enabled', 'failing'])
    .executeTakeFirst()) as Webhook | undefined
  if (webhook && webhook.url === previous?.webhook.url) {
    return { webhook, sender: previous.sender, ...signerFor(webhook, deps) }
  }
  const target = webhook && {
    webhook,
    sender: await openSender({ ...deps, url: webhook.url, mode: webhook.mode, maxConnections: MAX_WINDOW }),
    ...signerFor(webhook, deps),
  }
  previous?.sender.close()
  return target
}

function signerFor(webhook: Webhook, { vault, clock }: TargetDeps): Pick<DeliveryTarget, 'sign' | 'signUntil'> {
  const { secrets, until } = signingSecrets(webhook, vault, clock.now())
  return { sign: createSigner(secrets), signUntil: until }
}

const COMMON_HEADERS = ['content-type', 'application/json', 'user-agent', 'Attestry-Webhooks/1']

/** Sends a signed POST. Never rejects because of the endpoint: the result contains the error. */
export function sendDelivery(
  target: DeliveryTarget,
  delivery: DueDelivery,
  now: number,
  deps: TargetDeps,
): Promise<SendResult> {
  if (now >= target.signUntil) Object.assign(target, signerFor(target.webhook, deps))
  const { event_id } = delivery
  const body = bodyOf(delivery)
  const timestamp = Math.floor(now / 1000)
  const signature = target.sign(event_id, timestamp, body)
  return target.sender.send(
    [...COMMON_HEADERS, 'webhook-id', event_id, 'webhook-timestamp', String(timestamp), 'webhook-signature', signature],
    body,
  )
}

/** Returns the request body, which is the same in each attempt. */
function bodyOf({ event_id, type, mode, sequence, created_at, data }: DueDelivery): string {
  return `{"event_id":"${event_id}","type":"${type}","mode":"${mode}","sequence":${sequence},"created_at":"${created_at.toISOString()}","data":${data}}`
}
