import assert from 'node:assert/strict'
import { test } from 'node:test'
import PostalMime from 'postal-mime'
import { startApp } from '../../test/support/app.ts'
import { signInMember } from '../../test/support/console.ts'
import { aCandidate, createCampaignPartner, passTime } from '../../test/support/partners.ts'
import { startSmtp } from '../../test/support/smtp.ts'
import { until } from '../../test/support/until.ts'
import { verificationCalls } from '../../test/support/verification.ts'
import { DAY } from '../platform/clock.ts'
import { remindReviewers } from '../verification/reviews/review-requests.ts'
import { getEmail, sendEmail } from './mail.ts'

/** Returns the addresses that emails were sent to, sorted. */
async function recipientsOf(received: string[]): Promise<string[]> {
  const emails = await Promise.all(received.map((raw) => PostalMime.parse(raw)))
  return emails.map(({ to }) => (to![0] as { address: string }).address).sort()
}

async function startTestMode(t: Parameters<typeof startApp>[0]) {
  const smtp = await startSmtp()
  const app = await startApp(t, {
    worker: true,
    config: { smtpUrl: smtp.url, testMailAllow: ['allowed@example.org', '@qa.example'] },
  })
  t.after(smtp.stop)
  const { orgId } = await app.fixtures.createOrg()
  const calls = verificationCalls(app, orgId, await app.fixtures.createSessionKey(orgId, 'test'))
  return { app, orgId, calls, received: smtp.received }
}

test('TEST emails are sent only to members of the organisation and to allowed addresses', async (t) => {
  const { app, orgId, calls, received } = await startTestMode(t)
  await signInMember(app, orgId, 'viewer', 'Member@example.com')
  await signInMember(app, orgId, 'viewer', 'colleague@example.com')
  const { orgId: otherOrgId } = await app.fixtures.createOrg('Other')
  await signInMember(app, otherOrgId, 'owner', 'owner@other.example')
  const keptAddresses = [
    'stranger@example.com',
    'owner@other.example',
    'colleague+tag@example.com',
    'x@notqa.example',
    'x@qa.example.evil.example',
    'not-allowed@example.org',
  ]
  const sentAddresses = ['member@example.com', 'allowed@example.org', 'someone@qa.example']

  for (const email of [...keptAddresses, ...sentAddresses]) {
    const { session } = await calls.requestReview({ reviewer: { email } })
    const expectedStatus = sentAddresses.includes(email) ? 'sent' : 'kept'
    const [stored] = await until(async () => {
      const emails = await calls.listEmails(session)
      return emails[0]?.status === expectedStatus && emails
    })
    assert.equal(stored!.status_reason, expectedStatus === 'kept' ? 'test_mode' : null, email)
    assert.deepEqual([stored!.org_id, stored!.mode], [orgId, 'test'])
  }
  app.clock.advance(3 * DAY)
  await remindReviewers(app.context)
  await until(() => received.length === 2 * sentAddresses.length)
  const { rows } = await app.context.db.pool.query(
    `select count(*)::int as count from pgboss.job where name = 'send-mail'`,
  )
  assert.equal(rows[0].count, 2 * sentAddresses.length, 'kept emails have no job')
  assert.deepEqual(await recipientsOf(received), [...sentAddresses, ...sentAddresses].sort())
})

test('a TEST email in the queue is not sent either', async (t) => {
  const { app, calls, received } = await startTestMode(t)
  const { db, queue, vault } = app.context
  const { session } = await calls.requestReview({ reviewer: { email: 'stranger@example.com' } })
  const [email] = await calls.listEmails(session)
  const mail_id = email!.mail_id

  // As an earlier version queued it.
  await db.transaction(async (tx) => {
    await tx
      .updateTable('mails')
      .set({ status: 'queued', status_reason: null })
      .where('mail_id', '=', mail_id)
      .execute()
    await queue.enqueue(tx, sendEmail, { mail_id })
  })

  await until(async () => (await getEmail(db.queries, vault, mail_id)).status_reason === 'test_mode')
  assert.equal((await getEmail(db.queries, vault, mail_id)).status, 'kept')
  assert.deepEqual(received, [])
})

test('sign-in links are sent, and a TEST campaign sends no emails', async (t) => {
  const { app, orgId, received } = await startTestMode(t)
  const partner = await createCampaignPartner(app, { mode: 'test', orgId })
  const { mandate_id } = await partner.createMandate({ channels: ['email'] })
  await until(async () => (await partner.get(`/mandates/${mandate_id}`)).body.data.status === 'ready')
  await partner.createCampaign(mandate_id, [aCandidate(1, { phone: undefined, email: 'candidate@example.com' })])
  await passTime(app, 2_000)
  const { rows } = await app.context.db.pool.query(`select state, channel from messages where direction = 'out'`)
  assert.deepEqual(rows, [{ state: 'delivered', channel: 'email' }])

  await signInMember(app, orgId, 'owner', 'owner@example.com')
  const response = await app.fetch('/console/api/sign-in/mail', {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ email: 'owner@example.com' }),
  })
  assert.ok(response.status < 300, JSON.stringify(response.body))
  await until(() => received.length > 0)
  assert.deepEqual(await recipientsOf(received), ['owner@example.com'])
})
