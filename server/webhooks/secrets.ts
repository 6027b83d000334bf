import { randomBytes } from 'node:crypto'
import { DAY } from '../platform/clock.ts'
import type { Vault } from '../platform/vault.ts'

/** What an endpoint's row keeps of its secrets. */
export interface SealedSecrets {
  secret: Buffer
  /** Those that were replaced within the last day, the newest first: a line each, with the moment at which it stops signing. */
  previous_secret: Buffer | null
  /** Of the newest of them. */
  previous_secret_until: Date | null
}

type Owner = SealedSecrets & { webhook_id: string }

/** How long a secret goes on signing after it was replaced. */
const AFTERLIFE = DAY
/** However often it is rotated within that time: receivers take headers of some length only. */
const MOST_EARLIER = 9

export function newSecret(vault: Vault, webhookId: string): { text: string; sealed: Buffer } {
  const text = `whsec_${randomBytes(32).toString('base64')}`
  return { text, sealed: vault.seal(text, purpose(webhookId)) }
}

/** A new secret in force. The one before it signs for another day, and so do those before that until their own day is over. */
export function replaceSecret(webhook: Owner, vault: Vault, now: number): { text: string; columns: SealedSecrets } {
  const { webhook_id } = webhook
  const { text, sealed } = newSecret(vault, webhook_id)
  const until = now + AFTERLIFE
  const replaced = { text: vault.open(webhook.secret, purpose(webhook_id)), until }
  const earlier = [replaced, ...earlierSecrets(webhook, vault, now)].slice(0, MOST_EARLIER)
  const lines = earlier.map((each) => `${each.text} ${each.until}`).join('\n')
  const columns = {
    secret: sealed,
    previous_secret: vault.seal(lines, purpose(webhook_id)),
    previous_secret_until: new Date(until),
  }
  return { text, columns }
}

/** The secrets that sign now, the one in force first, and until when they are these. */
export function signingSecrets(webhook: Owner, vault: Vault, now: number): { secrets: string[]; until: number } {
  const earlier = earlierSecrets(webhook, vault, now)
  const current = vault.open(webhook.secret, purpose(webhook.webhook_id))
  return {
    secrets: [current, ...earlier.map(({ text }) => text)],
    until: Math.min(Number.POSITIVE_INFINITY, ...earlier.map(({ until }) => until)),
  }
}

function earlierSecrets({ webhook_id, previous_secret, previous_secret_until }: Owner, vault: Vault, now: number) {
  if (previous_secret === null || previous_secret_until!.getTime() <= now) return []
  return vault
    .open(previous_secret, purpose(webhook_id))
    .split('\n')
    .map((line) => {
      const [text, until] = line.split(' ')
      // A single secret used to be kept by itself.
      return { text: text!, until: until === undefined ? previous_secret_until!.getTime() : Number(until) }
    })
    .filter(({ until }) => until > now)
}

function purpose(webhookId: string) {
  return `webhook secret ${webhookId}`
}
