import type { Keyring } from '../../access/keyring.ts'
import type { Clock } from '../../platform/clock.ts'
import type { Database } from '../../platform/database/database.ts'
import type { Vault } from '../../platform/vault.ts'
import { type SigningSecret, signingSecrets } from '../secrets.ts'
import type { Webhook } from '../webhooks.ts'
import type { ConnectorOptions } from './connector.ts'
import { MAX_WINDOW } from './delivery-queue.ts'
import type { DueDelivery } from './due.ts'
import { deliveryBody, deliveryHeaders, deliveryTimestamp } from './request.ts'
import { type EndpointSender, openSender, type SendResult } from './sender.ts'
import { createSigner, type SignFunction } from './signature.ts'

/** A webhook that deliveries are sent to, with its connections and signing secrets. */
export interface DeliveryTarget {
  webhook: Webhook
  sender: EndpointSender
  /** Decrypted when the target is loaded: the data key that encrypted them may be gone when one of them expires. */
  secrets: SigningSecret[]
  sign: SignFunction
  /** Time at which the first of the secrets expires and `sign` is replaced, in epoch milliseconds. */
  signUntil: number
}

export interface TargetDeps extends Omit<ConnectorOptions, 'mode'> {
  db: Database
  clock: Clock
  vault: Vault
  keyring: Pick<Keyring, 'ensureFresh' | 'isServicePaused'>
}

/**
 * Loads the target of a webhook; undefined if it is disabled or archived, or its organisation is paused. Reuses the connections of the previous target if the
 * URL is the same.
 */
export async function loadTarget(
  webhookId: string,
  previous: DeliveryTarget | undefined,
  deps: TargetDeps,
): Promise<DeliveryTarget | undefined> {
  await deps.keyring.ensureFresh()
  const storedWebhook = (await deps.db.queries
    .selectFrom('webhooks')
    .selectAll()
    .where('webhook_id', '=', webhookId)
    .where('status', 'in', ['enabled', 'failing'])
    .executeTakeFirst()) as Webhook | undefined
  const webhook = storedWebhook && !deps.keyring.isServicePaused(storedWebhook.org_id) ? storedWebhook : undefined
  if (webhook && webhook.url === previous?.webhook.url) {
    return { webhook, sender: previous.sender, ...openSecrets(webhook, deps) }
  }
  const target = webhook && {
    webhook,
    sender: await openSender({ ...deps, url: webhook.url, mode: webhook.mode, maxConnections: MAX_WINDOW }),
    ...openSecrets(webhook, deps),
  }
  previous?.sender.close()
  return target
}

function openSecrets(webhook: Webhook, { vault, clock }: TargetDeps) {
  const now = clock.now()
  const secrets = signingSecrets(webhook, vault, now)
  return { secrets, ...createTargetSigner(secrets, now) }
}

function createTargetSigner(secrets: SigningSecret[], now: number): Pick<DeliveryTarget, 'sign' | 'signUntil'> {
  const validSecrets = secrets.filter(({ until }) => until > now)
  return {
    sign: createSigner(validSecrets.map(({ text }) => text)),
    signUntil: Math.min(...validSecrets.map(({ until }) => until)),
  }
}

/** Sends a signed POST and returns the signature too. Never rejects because of the endpoint: the result contains the error. */
export async function sendDelivery(
  target: DeliveryTarget,
  delivery: DueDelivery,
  now: number,
): Promise<SendResult & { signature: string }> {
  if (now >= target.signUntil) Object.assign(target, createTargetSigner(target.secrets, now))
  const { event_id } = delivery
  const body = deliveryBody(delivery)
  const timestamp = deliveryTimestamp(now)
  const signature = target.sign(event_id, timestamp, body)
  const result = await target.sender.send(deliveryHeaders(event_id, timestamp, signature).flat(), body)
  return { ...result, signature }
}
