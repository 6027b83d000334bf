import { randomBytes } from 'node:crypto'
import { DAY } from '../platform/clock.ts'
import type { SealedColumn } from '../platform/data-key-rotation.ts'
import type { Vault } from '../platform/vault.ts'

/** The encrypted columns of a webhook. */
export interface SealedSecrets {
  secret: Buffer
  /** Secrets that were rotated within the last day, newest first: one per line, with its expiry time. */
  previous_secret: Buffer | null
  /** The latest of these expiry times. */
  previous_secret_until: Date | null
}

type WebhookSecrets = SealedSecrets & { webhook_id: string }

/** Time that a secret stays valid after its rotation. */
const OLD_SECRET_VALID_MS = DAY
/** Limits the length of the signature header, which contains one signature per secret. */
const MAX_PREVIOUS_SECRETS = 9

export function newSecret(vault: Vault, webhookId: string): { text: string; sealed: Buffer } {
  const text = `whsec_${randomBytes(32).toString('base64')}`
  return { text, sealed: vault.seal(text, secretPurpose(webhookId)) }
}

/** Creates a new secret. Each previous secret stays valid for a day after its rotation. */
export function replaceSecret(
  webhook: WebhookSecrets,
  vault: Vault,
  now: number,
): { text: string; columns: SealedSecrets } {
  const { webhook_id } = webhook
  const { text, sealed } = newSecret(vault, webhook_id)
  const validUntil = now + OLD_SECRET_VALID_MS
  const currentSecret = { text: vault.open(webhook.secret, secretPurpose(webhook_id)), until: validUntil }
  const previousSecretList = [currentSecret, ...previousSecrets(webhook, vault, now)].slice(0, MAX_PREVIOUS_SECRETS)
  const lines = previousSecretList.map((previousSecret) => `${previousSecret.text} ${previousSecret.until}`).join('\n')
  const columns = {
    secret: sealed,
    previous_secret: vault.seal(lines, secretPurpose(webhook_id)),
    previous_secret_until: new Date(validUntil),
  }
  return { text, columns }
}

/** A secret that signs until a time in milliseconds since 1970. */
export interface SigningSecret {
  text: string
  until: number
}

/** Returns the secrets that sign from now on, the current one first. */
export function signingSecrets(webhook: WebhookSecrets, vault: Vault, now: number): SigningSecret[] {
  const currentSecret = vault.open(webhook.secret, secretPurpose(webhook.webhook_id))
  return [{ text: currentSecret, until: Number.POSITIVE_INFINITY }, ...previousSecrets(webhook, vault, now)]
}

function previousSecrets(
  { webhook_id, previous_secret, previous_secret_until }: WebhookSecrets,
  vault: Vault,
  now: number,
): SigningSecret[] {
  if (previous_secret === null || previous_secret_until!.getTime() <= now) return []
  return vault
    .open(previous_secret, secretPurpose(webhook_id))
    .split('\n')
    .map((line) => {
      const [text, until] = line.split(' ')
      // Rows of earlier versions contain a single secret without a time.
      return { text: text!, until: until === undefined ? previous_secret_until!.getTime() : Number(until) }
    })
    .filter(({ until }) => until > now)
}

function secretPurpose(webhookId: string) {
  return `webhook secret ${webhookId}`
}

export const sealedWebhookSecrets: SealedColumn[] = ['secret', 'previous_secret'].map((column) => ({
  table: 'webhooks',
  column,
  id: ['webhook_id'],
  purpose: secretPurpose,
}))
