import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setTimeout as pause } from 'node:timers/promises'
import { signInMember } from '../../../test/support/console.ts'
import { startReceiver } from '../../../test/support/receiver.ts'
import { until } from '../../../test/support/until.ts'
import { startWebhookApp } from '../../../test/support/webhooks.ts'
import { getEmail, listEmails } from '../../mail/mail.ts'
import { DAY, HOUR, MINUTE, SECOND } from '../../platform/clock.ts'

test('retries follow the schedule until the event is 30 days old, then the delivery fails', async (t) => {
  const app = await startWebhookApp(t, { worker: true })
  const { clock, createKey, createEndpoint, recordEvents, listDeliveries, as, logLines, context, orgId } = app
  const key = await createKey('test')
  const owner = await signInMember(app, orgId, 'owner')
  await signInMember(app, orgId, 'viewer')
  const receiver = await startReceiver(t, () => 500)
  const { webhook_id } = await createEndpoint(key, receiver.url)
  const startTime = clock.now()
  await recordEvents(key, { n: 1 })
  const statuses = new Set<string>()
  const delaysMs = [5 * SECOND, 30 * SECOND, 2 * MINUTE, 10 * MINUTE, 30 * MINUTE, HOUR, 2 * HOUR, 4 * HOUR, 8 * HOUR]
  for (let count = 1; ; count++) {
    await receiver.waitFor(count)
    const attemptedAt = clock.now()
    await until(async () => (await listDeliveries(key, webhook_id))[0].attempts.length === count)
    const [{ status, next_attempt_at }] = await listDeliveries(key, webhook_id)
    statuses.add((await as(key).get(`/webhooks/${webhook_id}`)).body.data.status)
    if (status === 'failed') break
    const actualDelayMs = Date.parse(next_attempt_at) - attemptedAt
    const expectedDelayMs = delaysMs[count - 1] ?? 12 * HOUR
    assert.ok(
      actualDelayMs >= 0.9 * expectedDelayMs && actualDelayMs <= 1.1 * expectedDelayMs + 1,
      `${count}: ${actualDelayMs} ms`,
    )
    if (count < 4) {
      clock.set(Date.parse(next_attempt_at) - 1)
      await pause(250)
      assert.equal(receiver.received.length, count, 'not sent before it is due')
    }
    // All remaining retries have a delay of twelve hours: skip most of them.
    clock.set(count === 11 ? startTime + 29.8 * DAY : Date.parse(next_attempt_at))
  }
  assert.deepEqual([...statuses], ['enabled', 'failing'])
  assert.equal(logLines.filter((line) => line.includes('all webhook deliveries failed for a day')).length, 1)
  const emails = await listEmails(context.db.queries, { scope: key, subjectId: webhook_id, limit: 10 })
  assert.deepEqual(
    emails.map(({ to_address }) => to_address),
    [owner.email],
  )
  const { text } = await getEmail(context.db.queries, context.vault, emails[0]!.mail_id)
  assert.ok(text.includes(receiver.url) && text.includes(webhook_id))
  const [{ next_attempt_at, attempts }] = await listDeliveries(key, webhook_id, '?status=failed')
  assert.equal(next_attempt_at, null)
  assert.equal(attempts.length, 12)

  receiver.respond = () => 200
  await recordEvents(key, { n: 2 })
  await until(async () => (await as(key).get(`/webhooks/${webhook_id}`)).body.data.status === 'enabled')
})
