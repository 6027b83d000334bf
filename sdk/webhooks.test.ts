import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { test } from 'node:test'
import { Webhook } from 'standardwebhooks'
import { AttestryConfigurationError } from './configuration.ts'
import { signWebhook, verifyWebhook, WebhookVerificationError } from './webhooks.ts'

interface WebhookVector {
  name: string
  valid: boolean
  reason?: 'header' | 'timestamp' | 'signature'
  secret: string
  now: number
  headers: Record<string, string>
  body: string
}

const vectors: WebhookVector[] = JSON.parse(
  readFileSync(new URL('../sdks/vectors.json', import.meta.url), 'utf8'),
).webhooks
const REASON_TEXTS = { header: /header is missing/, timestamp: /webhook-timestamp header/, signature: /No signature/ }

const SECRET = `whsec_${Buffer.from('a secret of twenty-four b').toString('base64')}`
const BODY = JSON.stringify({ type: 'webhook.test', data: { name: 'आशा' } })

test('signatures match the Standard Webhooks library and can be verified', async () => {
  const now = Math.floor(Date.now() / 1000)
  const ourHeaders = await signWebhook(BODY, { id: 'EV_1', secret: SECRET, timestamp: now })
  const librarySignature = new Webhook(SECRET).sign('EV_1', new Date(now * 1000), BODY)

  assert.equal(ourHeaders['webhook-signature'], librarySignature)
  assert.deepEqual(await verifyWebhook(BODY, ourHeaders, SECRET), JSON.parse(BODY))
  assert.deepEqual(await verifyWebhook(Buffer.from(BODY), new Headers(ourHeaders), SECRET), JSON.parse(BODY))
})

test('one valid signature of several is enough', async () => {
  const headers = await signWebhook(BODY, { id: 'EV_1', secret: SECRET })
  headers['webhook-signature'] = `v1,AAAA v1a,xyz ${headers['webhook-signature']}`

  assert.ok(await verifyWebhook(BODY, headers, SECRET))
})

test('verification fails for another body, another secret, an old delivery and missing headers', async () => {
  const headers = await signWebhook(BODY, { id: 'EV_1', secret: SECRET })
  const now = Number(headers['webhook-timestamp'])
  const assertFails = (body: string, headers: Record<string, string>, secret: string, options = {}) =>
    assert.rejects(verifyWebhook(body, headers, secret, options), WebhookVerificationError)

  await assertFails(`${BODY} `, headers, SECRET)
  await assertFails(BODY, headers, `whsec_${Buffer.from('another secret').toString('base64')}`)
  await assertFails(BODY, headers, SECRET, { now: now + 301 })
  await assertFails(BODY, headers, SECRET, { now: now - 301 })
  await assertFails(BODY, {}, SECRET)
  await assertFails(BODY, { ...headers, 'webhook-id': 'EV_2' }, SECRET)
})

for (const { name, valid, reason, secret, now, headers, body } of vectors) {
  test(`webhook vector: ${name}`, async () => {
    for (const received of [body, new TextEncoder().encode(body)]) {
      const verification = verifyWebhook(received, headers, secret, { now })
      if (valid) assert.deepEqual(await verification, JSON.parse(body))
      else await assert.rejects(verification, { message: REASON_TEXTS[reason!] })
    }
  })
}

test('a missing or malformed webhook secret is a configuration error', async () => {
  const headers = await signWebhook(BODY, { id: 'EV_1', secret: SECRET })
  for (const secret of [undefined, '', 'whsec_', 'whsec_%%'])
    await assert.rejects(verifyWebhook(BODY, headers, secret!), AttestryConfigurationError)
})
