import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setTimeout as pause } from 'node:timers/promises'
import { memberOf } from '../../../test/support/console.ts'
import { startReceiver, until } from '../../../test/support/receiver.ts'
import { startWebhooks } from '../../../test/support/webhooks.ts'
import { getMail, listMails } from '../../mail/mail.ts'
import { DAY, HOUR, MINUTE, SECOND } from '../../platform/clock.ts'

test('retries follow the schedule until the event is 30 days old, and then it has failed', async (t) => {
  const app = await startWebhooks(t, { worker: true })
  const { clock, keyOf, endpoint, record, deliveries, as, logged, context, orgId } = app
  const key = await keyOf('test')
  const owner = await memberOf(app, orgId, 'owner')
  await memberOf(app, orgId, 'viewer')
  const receiver = await startReceiver(t, () => 500)
  const { webhook_id } = await endpoint(key, receiver.url)
  const start = clock.now()
  await record(key, { n: 1 })
  const statuses = new Set<string>()
  const steps = [5 * SECOND, 30 * SECOND, 2 * MINUTE, 10 * MINUTE, 30 * MINUTE, HOUR, 2 * HOUR, 4 * HOUR, 8 * HOUR]
  for (let count = 1; ; count++) {
    await receiver.has(count)
    const attempted = clock.now()
    await until(async () => (await deliveries(key, webhook_id))[0].attempts.length === count)
    const [{ status, next_attempt_at }] = await deliveries(key, webhook_id)
    statuses.add((await as(key).get(`/webhooks/${webhook_id}`)).body.data.status)
    if (status === 'failed') break
    const wait = Date.parse(next_attempt_at) - attempted
    const step = steps[count - 1] ?? 12 * HOUR
    assert.ok(wait >= 0.9 * step && wait <= 1.1 * step + 1, `${count}: ${wait} ms`)
    if (count < 4) {
      clock.set(Date.parse(next_attempt_at) - 1)
      await pause(250)
      assert.equal(receiver.received.length, count, 'not a moment early')
    }
    // Ten days of every twelve hours would show nothing new.
    clock.set(count === 11 ? start + 29.8 * DAY : Date.parse(next_attempt_at))
  }
  assert.deepEqual([...statuses], ['enabled', 'failing'])
  assert.equal(logged.filter((line) => line.includes('nothing but failures for a day')).length, 1)
  const mails = await listMails(context.db.queries, { scope: key, subjectId: webhook_id, limit: 10 })
  assert.deepEqual(
    mails.map(({ to_address }) => to_address),
    [owner.email],
  )
  const { text } = await getMail(context.db.queries, context.vault, mails[0]!.mail_id)
  assert.ok(text.includes(receiver.url) && text.includes(webhook_id))
  const [{ next_attempt_at, attempts }] = await deliveries(key, webhook_id, '?status=failed')
  assert.equal(next_attempt_at, null)
  assert.equal(attempts.length, 12)

  receiver.answer = () => 200
  await record(key, { n: 2 })
  await until(async () => (await as(key).get(`/webhooks/${webhook_id}`)).body.data.status === 'enabled')
})
