import assert from 'node:assert/strict'
import { test } from 'node:test'
import PostalMime from 'postal-mime'
import { startApp } from '../../test/support/app.ts'
import { aCandidate, createCampaignPartner, passTime } from '../../test/support/partners.ts'
import { startSmtp } from '../../test/support/smtp.ts'
import { until } from '../../test/support/until.ts'
import { expectOk, outcomeOf, startVerification, verificationCalls } from '../../test/support/verification.ts'
import { saveCredentials } from '../channels/credentials.ts'
import { DAY } from '../platform/clock.ts'
import { remindReviewers } from '../verification/reviews/review-requests.ts'

const ONE_CLICK = {
  method: 'POST',
  headers: { 'content-type': 'application/x-www-form-urlencoded' },
  body: 'List-Unsubscribe=One-Click',
}

/** Returns the path of the unsubscribe link in a text. */
function unsubscribePath(text: string): string {
  return /\/unsubscribe\/[\w-]{20,}/.exec(text)![0]
}

async function countSuppressions(app: Awaited<ReturnType<typeof startApp>>): Promise<number> {
  return (await app.context.db.queries.selectFrom('mail_suppressions').select('suppression_id').execute()).length
}

test('a reviewer unsubscribes with one click, for all organisations and all spellings of the address', async (t) => {
  const smtp = await startSmtp()
  const calls = await startVerification(t, {
    worker: true,
    config: { smtpUrl: smtp.url, mailFrom: 'Attestry <post@example.org>', publicUrl: undefined },
  })
  t.after(smtp.stop)
  const { app } = calls
  const { session } = await calls.requestReview({ reviewer: { email: 'ravi.menon@gmail.com' } })
  await until(() => smtp.received.length === 1)
  const email = await PostalMime.parse(smtp.received[0]!)
  const header = (name: string) => email.headers.find(({ key }) => key === name)?.value
  const path = unsubscribePath(email.text!)
  assert.equal(header('list-unsubscribe-post'), 'List-Unsubscribe=One-Click')
  assert.equal(
    header('list-unsubscribe')!.replace(/\s+/g, ' '),
    `<${app.url}${path}>, <mailto:post@example.org?subject=unsubscribe%20${path.split('/').pop()}>`,
  )
  assert.ok(email.html!.includes(`href="${app.url}${path}"`))

  for (let i = 0; i < 2; i++) {
    const response = await app.fetch(path, ONE_CLICK)
    assert.equal(response.status, 200)
    assert.match(response.body, /You will get no more review requests/)
  }

  assert.equal(await countSuppressions(app), 1)
  const { orgId } = await app.fixtures.createOrg('Other')
  const otherCalls = verificationCalls(app, orgId, await app.fixtures.createSessionKey(orgId))
  const otherSession = await otherCalls.openSession()
  await expectOk(otherCalls.storeSkills(otherSession))
  await expectOk(otherCalls.chooseMethod(otherSession, 'human'))
  for (const address of ['ravi.menon@gmail.com', 'Ravi.Menon+work@googlemail.com', 'ravimenon@gmail.com']) {
    const response = await otherCalls.storeReviewer(otherSession, { email: address })
    assert.equal(outcomeOf(response), '409 REVIEWER_UNREACHABLE', address)
    assert.match(response.body.error.message, /does not accept review requests\. Use another reviewer/)
  }
  await expectOk(otherCalls.storeReviewer(otherSession, { email: 'ravi@metro.example' }))

  app.clock.advance(3 * DAY)
  await remindReviewers(app.context)
  const [reminder] = await calls.listEmails(session)
  assert.deepEqual(
    [reminder!.kind, reminder!.status, reminder!.status_reason],
    ['review_reminder', 'skipped', 'suppressed'],
  )
  const { rows } = await app.context.db.pool.query(`select * from mail_suppressions`)
  assert.ok(!JSON.stringify(rows).includes('ravi'), 'the list has no addresses')
})

test('opening the link changes nothing, and the form works without scripts in both languages', async (t) => {
  const calls = await startVerification(t)
  const { app } = calls
  const { session } = await calls.requestReview()
  const [email] = await calls.listEmails(session)
  const path = unsubscribePath(email!.text)

  for (const method of ['GET', 'HEAD', 'OPTIONS']) await app.fetch(path, { method })
  const page = await app.fetch(path, { headers: { 'accept-language': 'hi-IN,hi;q=0.9,en;q=0.8' } })
  assert.equal(page.status, 200)
  assert.equal(page.headers.get('content-type'), 'text/html; charset=utf-8')
  assert.equal(page.headers.get('referrer-policy'), 'no-referrer')
  assert.doesNotMatch(page.headers.get('content-security-policy')!, /unsafe/)
  assert.match(page.body, /<html lang="hi">[\s\S]*<form method="post">/)
  assert.match((await app.fetch(`${path}?lang=en`)).body, /<html lang="en">[\s\S]*Stop review requests/)
  assert.doesNotMatch(page.body, /<script/i)
  assert.doesNotMatch(page.body, /menon/i, 'the page does not show the address')
  assert.equal(await countSuppressions(app), 0)

  // As a browser submits the form, and as RFC 8058 also allows.
  const form = new FormData()
  form.set('List-Unsubscribe', 'One-Click')
  assert.equal((await app.fetch(path, { method: 'POST', body: form })).status, 200)
  assert.equal(await countSuppressions(app), 1)

  const unknownPage = await app.fetch('/unsubscribe/AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA', ONE_CLICK)
  assert.equal(unknownPage.status, 404)
  assert.match(unknownPage.body, /This link does not work/)
})

test('unknown links are limited per IP address', async (t) => {
  const app = await startApp(t)
  const statuses = new Set<number>()
  for (let i = 0; i < 70; i++) statuses.add((await app.fetch(`/unsubscribe/${'x'.repeat(20)}${i}`, ONE_CLICK)).status)
  assert.deepEqual([...statuses], [404, 429])
})

test('a candidate who unsubscribes from an email is opted out like STOP', async (t) => {
  const smtp = await startSmtp()
  const app = await startApp(t, { config: { smtpUrl: smtp.url, mailFrom: 'Attestry <jobs@example.org>' } })
  t.after(smtp.stop)
  const { context, clock } = app
  const partner = await createCampaignPartner(app, { mode: 'live' })
  const { mandate_id } = await partner.createMandate({ channels: ['email'], languages: ['ta', 'en'] })
  const candidate = aCandidate(1, { phone: undefined, email: 'Asha.Verma@gmail.com', language: 'ta' })
  await partner.createCampaign(mandate_id, [candidate])
  await passTime(app, 1000)
  const email = await PostalMime.parse(smtp.received[0]!)
  const path = unsubscribePath(email.text!)
  assert.doesNotMatch(email.text!, /STOP/, 'replies to emails are not read')
  assert.match(email.text!, /இணைப்பைத் திறக்கவும்/)
  assert.ok(email.html!.includes(`href="${app.url}${path}"`))
  assert.ok(email.headers.some(({ key }) => key === 'list-unsubscribe-post'))
  assert.match((await app.fetch(path)).body, /<html lang="ta">[\s\S]*<form/)
  assert.equal((await partner.get('/results')).body.data.items[0].status, 'pending')

  for (let i = 0; i < 2; i++) assert.equal((await app.fetch(path, ONE_CLICK)).status, 200)

  const [result] = (await partner.get('/results')).body.data.items
  assert.deepEqual([result.status, result.reason], ['declined', 'stopped'])
  const { rows } = await context.db.pool.query(`select count(*)::int as count from messages where direction = 'in'`)
  assert.equal(rows[0].count, 1, 'the second click is not stored')

  // Another spelling of the mailbox, in a later campaign.
  await partner.createCampaign(mandate_id, [aCandidate(2, { phone: undefined, email: 'ashaverma+x@googlemail.com' })])
  await passTime(app, 1000)
  const outcomes = (await partner.get('/results')).body.data.items.map(({ status, reason }: any) => [status, reason])
  assert.deepEqual(outcomes, [
    ['declined', 'stopped'],
    ['declined', 'stopped'],
  ])
  assert.equal(smtp.received.length, 1)

  // Other organisations may still write to the candidate.
  const otherPartner = await createCampaignPartner(app, { mode: 'live' })
  await context.db.transaction((tx) =>
    saveCredentials(tx, context.vault, clock, otherPartner.orgId, 'email', { smtp_url: smtp.url, from: 'b@b.example' }),
  )
  const otherMandate = await otherPartner.createMandate({ channels: ['email'] })
  await otherPartner.createCampaign(otherMandate.mandate_id, [{ ...candidate, language: 'en' }])
  await passTime(app, 1000)
  assert.equal(smtp.received.length, 2)
})

test('a mailbox gets a limited number of emails of campaigns per day; further ones are sent the next day', async (t) => {
  const smtp = await startSmtp()
  const app = await startApp(t, {
    config: { smtpUrl: smtp.url, mailLimits: { perRecipient: 2, perOrganisation: 1000 } },
  })
  t.after(smtp.stop)
  for (let i = 0; i < 3; i++) {
    const partner = await createCampaignPartner(app, { mode: 'live' })
    const { mandate_id } = await partner.createMandate({ channels: ['email'] })
    await partner.createCampaign(mandate_id, [aCandidate(1, { phone: undefined, email: `asha+${i}@example.com` })])
  }
  await passTime(app, 1000)
  assert.equal(smtp.received.length, 2)
  app.clock.advance(DAY)
  await passTime(app, 1000)
  assert.equal(smtp.received.length, 3)
})
