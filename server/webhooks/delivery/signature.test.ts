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

  const [first, second] = receiver.received
  assert.equal(first!.path, '/hook?token=a%20b')
  assert.equal(first!.headers['content-type'], 'application/json')
  assert.equal(first!.headers['user-agent'], 'Attestry-Webhooks/1')
  assert.equal(first!.headers['webhook-id'], eventId)
  assert.deepEqual(new StandardWebhook(secret).verify(first!.text, first!.headers), first!.body)
  assert.throws(() => new StandardWebhook(secret).verify(`${first!.text} `, first!.headers))
  const { sequence, ...rest } = first!.body
  assert.ok(Number.isInteger(sequence))
  assert.deepEqual(rest, {
    event_id: eventId,
    type: 'mandate.ready',
    mode: 'test',
    created_at: recordedAt,
    data: { mandate_id: 'JM_1', title: 'Schweißer – वेल्डर 🔧', version: 3 },
  })
  assert.deepEqual(Object.keys(first!.body), ['event_id', 'type', 'mode', 'sequence', 'created_at', 'data'])
  assert.equal(second!.text, first!.text)
  assert.equal(second!.headers['webhook-id'], eventId)
  assert.equal(Number(second!.headers['webhook-timestamp']), Math.floor(clock.now() / 1000))
  new StandardWebhook(secret).verify(second!.text, second!.headers)

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

  const rotated = (await as(key).post(`/webhooks/${webhook_id}/rotate-secret`)).body.data.secret
  await recordEvents(key, { n: 2 })
  await receiver.waitFor(3)
  const third = receiver.received[2]!
  assert.equal(third.headers['webhook-signature']!.split(' ').length, 2)
  for (const each of [secret, rotated]) new StandardWebhook(each).verify(third.text, third.headers)
  clock.advance(DAY + SECOND)
  await recordEvents(key, { n: 3 })
  await receiver.waitFor(4)
  const fourth = receiver.received[3]!
  assert.equal(
    fourth.headers['webhook-signature'],
    new StandardWebhook(rotated).sign(fourth.headers['webhook-id']!, new Date(clock.now()), fourth.text),
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
  const rotate = async () => (await as(key).post(`/webhooks/${webhook_id}/rotate-secret`)).body.data.secret as string
  const signingSecrets = async () => {
    const count = receiver.received.length
    await recordEvents(key, { n: count })
    await receiver.waitFor(count + 1)
    const { headers, text } = receiver.received.at(-1)!
    const signed = (each: string) =>
      headers['webhook-signature']!.split(' ').includes(
        new StandardWebhook(each).sign(headers['webhook-id']!, new Date(clock.now()), text),
      )
    const known = [secret, ...rotated].filter(signed)
    assert.equal(headers['webhook-signature']!.split(' ').length, known.length)
    return known
  }

  const rotated = [await rotate()]
  // The format of earlier versions, which stored one previous secret.
  const sealed = context.vault.seal(secret, `webhook secret ${webhook_id}`)
  await sql`update webhooks set previous_secret = ${sealed}`.execute(context.db.queries)
  clock.advance(HOUR)
  rotated.push(await rotate())
  assert.deepEqual(await signingSecrets(), [secret, ...rotated])
  clock.advance(23 * HOUR)
  assert.deepEqual(await signingSecrets(), rotated, 'the first secret is no longer valid')
  clock.advance(HOUR)
  assert.deepEqual(await signingSecrets(), [rotated[1]])

  for (let count = 0; count < 12; count++) rotated.push(await rotate())
  assert.deepEqual(await signingSecrets(), rotated.slice(-10), 'the number of signatures is limited')
})
