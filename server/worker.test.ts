import assert from 'node:assert/strict'
import { test } from 'node:test'
import { startApp } from '../test/support/app.ts'

interface StoredQueue {
  name: string
  policy: string
  retry_limit: number
  retry_delay: number
  retry_delay_max: number
  expire_seconds: number
  cron: string | null
  timezone: string | null
}

test('every job has its retries, its maximum run time and its schedule', async (t) => {
  const { context } = await startApp(t, { worker: true })
  const { rows } = await context.db.pool.query<StoredQueue>(
    `select q.name, policy, retry_limit, retry_delay, retry_delay_max, expire_seconds, cron, timezone
     from pgboss.queue q left join pgboss.schedule s using (name) where q.name !~ '^__' order by q.name collate "C"`,
  )
  assert.deepEqual(
    rows.map(
      ({ name, policy, retry_limit, retry_delay, retry_delay_max, expire_seconds, cron, timezone }) =>
        `${name}: ${policy}, ${retry_limit} retries after ${retry_delay} to ${retry_delay_max} s, up to ${expire_seconds} s` +
        (cron === null ? '' : `, at ${cron} ${timezone}`),
    ),
    [
      'back-up: standard, 3 retries after 300 to 3600 s, up to 43200 s',
      'campaigns.message-cost: short, 5 retries after 60 to 600 s, up to 60 s',
      'check-endorsements: standard, 20 retries after 1 to 600 s, up to 1800 s, at 17 2 * * * Asia/Kolkata',
      'copy-erasures: standard, 3 retries after 1 to 600 s, up to 300 s',
      'delete-test-responses: standard, 20 retries after 1 to 600 s, up to 300 s, at 23 3 * * * Asia/Kolkata',
      'drop-old-events: standard, 20 retries after 1 to 600 s, up to 300 s, at 23 * * * * Asia/Kolkata',
      'email-holder-links: standard, 20 retries after 1 to 600 s, up to 300 s',
      'email-notifications: standard, 20 retries after 1 to 600 s, up to 300 s, at * * * * * Asia/Kolkata',
      'end-verifications: standard, 20 retries after 1 to 600 s, up to 300 s, at */2 * * * * Asia/Kolkata',
      'enforce-retention: standard, 20 retries after 1 to 600 s, up to 3000 s, at 23 * * * * Asia/Kolkata',
      'erase-organisation: short, 20 retries after 1 to 600 s, up to 3000 s',
      'forget-idempotency-keys: standard, 20 retries after 1 to 600 s, up to 300 s, at 17 * * * * Asia/Kolkata',
      'forget-limit-counters: standard, 20 retries after 1 to 600 s, up to 300 s, at 47 * * * * Asia/Kolkata',
      'forget-people-of-past-days: standard, 20 retries after 1 to 600 s, up to 300 s, at 7 1 * * * Asia/Kolkata',
      'mail-sign-in-link: standard, 3 retries after 1 to 600 s, up to 300 s',
      'publish-audit-head: standard, 20 retries after 1 to 600 s, up to 300 s, at 5 0 * * * Asia/Kolkata',
      'refresh-candidate-lists: standard, 20 retries after 1 to 600 s, up to 300 s, at * * * * * Asia/Kolkata',
      'remind-of-expiring-keys: standard, 20 retries after 1 to 600 s, up to 300 s, at 11 * * * * Asia/Kolkata',
      'review-reminders: standard, 20 retries after 1 to 600 s, up to 300 s, at */5 * * * * Asia/Kolkata',
      'send-mail: standard, 40 retries after 15 to 3600 s, up to 90 s',
      'settle-held-deliveries: standard, 20 retries after 1 to 600 s, up to 3600 s',
      'tidy-console: standard, 20 retries after 1 to 600 s, up to 300 s, at 31 * * * * Asia/Kolkata',
      'tidy-mail-counts: standard, 20 retries after 1 to 600 s, up to 300 s, at 47 * * * * Asia/Kolkata',
      'tidy-wallet-offers: standard, 20 retries after 1 to 600 s, up to 300 s, at 37 * * * * Asia/Kolkata',
      'update-item-statistics: standard, 20 retries after 1 to 600 s, up to 3000 s, at 41 * * * * Asia/Kolkata',
      'withdraw-deliveries: standard, 20 retries after 1 to 600 s, up to 3600 s',
    ],
  )
})
