import assert from 'node:assert/strict'
import { test } from 'node:test'
import { sql } from 'kysely'
import { Webhook as StandardWebhook } from 'standardwebhooks'
import { TestClock } from '../../../test/support/clock.ts'
import { startReceiver } from '../../../test/support/receiver.ts'
import { until } from '../../../test/support/until.ts'
import { startWebhookApp } from '../../../test/support/webhooks.ts'
import { DAY, HOUR, SECOND } from '../../platform/clock.ts'

test('events are signed according to Standard Webhooks, with both secrets for a day after a rotation', async (t) => {
  const { clock, as, createKey, createEndpoint, recordEvents, listDeliveries, acknowledgedBy } = await startWebhookApp(
    t,
    {
      worker: true,
      clock: new TestClock(Date.now()),
    },
  )
  const key = await createKey('test')
  const receiver = await startReceiver(t, () => (receiver.received.length === 1 ? 500 : 201))
  const { webhook_id, secret } = await createEndpoint(key, `${receiver.url}?token=a%20b`)
  const recordedAt = new Date(clock.now()).toISOString()
  const [eventId] = await recordEvents(key, { mandate_id: 'JM_1', title: 'Schweißer – वेल्डर 🔧', version: 3 })
  await receiver.waitFor(1)
  await until(async () => (await listDeliveries(key, webhook_id))[0].attempts.length === 1)
  assert.equal(await acknowledgedBy(eventId!), null)
  clock.advance(6 * SECOND)
  await receiver.waitFor(2)

  const [firstRequest, secondRequest] = receiver.received
  assert.equal(firstRequest!.path, '/hook?token=a%20b')
  assert.equal(firstRequest!.headers['content-type'], 'application/json')
  assert.equal(firstRequest!.headers['user-agent'], 'Attestry-Webhooks/1')
  assert.equal(firstRequest!.headers['webhook-id'], eventId)
  assert.deepEqual(new StandardWebhook(secret).verify(firstRequest!.text, firstRequest!.headers), firstRequest!.body)
  assert.throws(() => new StandardWebhook(secret).verify(`${firstRequest!.text} `, firstRequest!.headers))
  const { sequence, ...otherFields } = firstRequest!.body
  assert.ok(Number.isInteger(sequence))
  assert.deepEqual(otherFields, {
    event_id: eventId,
    type: 'mandate.ready',
    mode: 'test',
    created_at: recordedAt,
    data: { mandate_id: 'JM_1', title: 'Schweißer – वेल्डर 🔧', version: 3 },
  })
  assert.deepEqual(Object.keys(firstRequest!.body), ['event_id', 'type', 'mode', 'sequence', 'created_at', 'data'])
  assert.equal(secondRequest!.text, firstRequest!.text)
  assert.equal(secondRequest!.headers['webhook-id'], eventId)
  assert.equal(Number(secondRequest!.headers['webhook-timestamp']), Math.floor(clock.now() / 1000))
  new StandardWebhook(secret).verify(secondRequest!.text, secondRequest!.headers)

  await until(async () => (await acknowledgedBy(eventId!)) === 'webhook')
  const [delivery] = await listDeliveries(key, webhook_id)
  assert.equal(delivery.status, 'delivered')
  assert.equal(delivery.next_attempt_at, null)
  assert.deepEqual(
    delivery.attempts.map(({ status_code, error }: any) => ({ status_code, error })),
    [
      { status_code: 500, error: 'responded with 500' },
      { status_code: 201, error: null },
    ],
  )

  const rotatedSecret = (await as(key).post(`/webhooks/${webhook_id}/rotate-secret`)).body.data.secret
  await recordEvents(key, { n: 2 })
  await receiver.waitFor(3)
  const thirdRequest = receiver.received[2]!
  assert.equal(thirdRequest.headers['webhook-signature']!.split(' ').length, 2)
  for (const signingSecret of [secret, rotatedSecret])
    new StandardWebhook(signingSecret).verify(thirdRequest.text, thirdRequest.headers)
  clock.advance(DAY + SECOND)
  await recordEvents(key, { n: 3 })
  await receiver.waitFor(4)
  const fourthRequest = receiver.received[3]!
  assert.equal(
    fourthRequest.headers['webhook-signature'],
    new StandardWebhook(rotatedSecret).sign(
      fourthRequest.headers['webhook-id']!,
      new Date(clock.now()),
      fourthRequest.text,
    ),
  )
})

test('a rotated secret signs for a day, even if another rotation follows immediately', async (t) => {
  const { clock, context, as, createKey, createEndpoint, recordEvents, startDelivery } = await startWebhookApp(t, {
    clock: new TestClock(Date.now()),
  })
  startDelivery()
  const key = await createKey('test')
  const receiver = await startReceiver(t)
  const { webhook_id, secret } = await createEndpoint(key, receiver.url)
  const rotateSecret = async () =>
    (await as(key).post(`/webhooks/${webhook_id}/rotate-secret`)).body.data.secret as string
  const signingSecrets = async () => {
    const count = receiver.received.length
    await recordEvents(key, { n: count })
    await receiver.waitFor(count + 1)
    const { headers, text } = receiver.received.at(-1)!
    const isSignedWith = (candidateSecret: string) =>
      headers['webhook-signature']!.split(' ').includes(
        new StandardWebhook(candidateSecret).sign(headers['webhook-id']!, new Date(clock.now()), text),
      )
    const knownSecrets = [secret, ...rotatedSecrets].filter(isSignedWith)
    assert.equal(headers['webhook-signature']!.split(' ').length, knownSecrets.length)
    return knownSecrets
  }

  const rotatedSecrets = [await rotateSecret()]
  // The format of earlier versions, which stored one previous secret.
  const sealedSecret = context.vault.seal(secret, `webhook secret ${webhook_id}`)
  await sql`update webhooks set previous_secret = ${sealedSecret}`.execute(context.db.queries)
  clock.advance(HOUR)
  rotatedSecrets.push(await rotateSecret())
  assert.deepEqual(await signingSecrets(), [secret, ...rotatedSecrets])
  clock.advance(23 * HOUR)
  assert.deepEqual(await signingSecrets(), rotatedSecrets, 'the first secret is no longer valid')
  clock.advance(HOUR)
  assert.deepEqual(await signingSecrets(), [rotatedSecrets[1]])

  for (let count = 0; count < 12; count++) rotatedSecrets.push(await rotateSecret())
  assert.deepEqual(await signingSecrets(), rotatedSecrets.slice(-10), 'the number of signatures is limited')
})
