import { createHmac, createSecretKey } from 'node:crypto'

/** Returns the Standard Webhooks signature header: one signature per secret, separated by spaces. */
export type SignFunction = (id: string, timestamp: number, body: string) => string

export function createSigner(secrets: string[]): SignFunction {
  const keys = secrets.map((secret) => createSecretKey(Buffer.from(secret.replace(/^whsec_/, ''), 'base64')))
  return (id, timestamp, body) =>
    keys.map((key) => `v1,${createHmac('sha256', key).update(`${id}.${timestamp}.${body}`).digest('base64')}`).join(' ')
}
