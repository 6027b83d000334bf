import assert from 'node:assert/strict'
import { test } from 'node:test'
import { startApp, type TestApp } from '../../test/support/app.ts'
import { inviteCandidates } from '../../test/support/candidate.ts'
import { oncePerFile } from '../../test/support/cleanup.ts'
import { aCandidate, type CampaignPartner, createCampaignPartner } from '../../test/support/partners.ts'
import { startSmtp } from '../../test/support/smtp.ts'
import { until } from '../../test/support/until.ts'
import { verificationCalls } from '../../test/support/verification.ts'
import { contactNow } from '../campaigns/contact/engine.ts'
import { DAY } from '../platform/clock.ts'

const startSharedApp = oncePerFile((t) => startApp(t))
const ERASURE = { basis: 'GDPR Article 17', requested_by: 'the person' }

async function setUp() {
  const app = await startSharedApp()
  const partner = await createCampaignPartner(app)
  const { mandate_id } = await partner.createMandate({
    channels: ['whatsapp', 'sms'],
    follow_ups: [{ after_hours: 24, channel: 'sms' }],
  })
  return { app, partner, mandate_id }
}

async function erase(partner: Pick<CampaignPartner, 'get' | 'post'>, address: string): Promise<number> {
  const query = address.includes('@') ? 'email' : 'phone'
  const { body } = await partner.get(`/people?${query}=${encodeURIComponent(address)}`)
  const [person] = body.data.items
  return (await partner.post(`/people/${person.person_id}/erase`, ERASURE)).status
}

/** Returns the number of messages that were handed to a provider, and of those that wait. */
async function countMessages({ context }: TestApp, orgId: string): Promise<{ sent: number; waiting: number }> {
  const { rows } = await context.db.pool.query(
    `select (count(*) filter (where state not in ('queued', 'dropped')))::int as sent,
       (count(*) filter (where state in ('queued', 'sending')))::int as waiting
     from messages where org_id = $1 and direction = 'out'`,
    [orgId],
  )
  return rows[0]
}

/** Lets days pass, in which follow-ups become due. */
async function passDays(app: TestApp): Promise<void> {
  for (let day = 0; day < 4; day++) {
    await contactNow(app.context)
    app.clock.advance(DAY)
  }
}

test('a person who is erased in the middle of a conversation gets no further message and cannot reply', async () => {
  const { app, partner, mandate_id } = await setUp()
  const [candidate] = await inviteCandidates(app, partner, mandate_id, [aCandidate(1)])
  await candidate!.page.view()
  await candidate!.page.reply({ value: 'yes' })
  assert.equal(await erase(partner, '+919810000001'), 200)
  const before = await countMessages(app, partner.orgId)
  assert.equal(before.waiting, 0)
  await assert.rejects(candidate!.page.reply({ value: 'yes' }), /410|404/)
  await passDays(app)
  assert.deepEqual(await countMessages(app, partner.orgId), before)
})

test('a person who is erased before the first message is not contacted, and the credit is refunded', async () => {
  const { app, partner, mandate_id } = await setUp()
  await partner.createCampaign(mandate_id, [aCandidate(1)])
  assert.equal((await partner.get('/credits')).body.data.balance, 999)
  assert.equal(await erase(partner, '+919810000001'), 200)
  await passDays(app)
  assert.deepEqual(await countMessages(app, partner.orgId), { sent: 0, waiting: 0 })
  assert.equal((await partner.get('/credits')).body.data.balance, 1000)
})

test('a message that waits for another attempt is not sent after the erasure', async () => {
  const { app, partner, mandate_id } = await setUp()
  await inviteCandidates(app, partner, mandate_id, [aCandidate(1)])
  // The state after an attempt that the provider rejected temporarily.
  await app.context.db.pool.query(
    `update messages set state = 'queued', due_at = $2 where candidate_id in (select candidate_id from candidates where org_id = $1)`,
    [partner.orgId, new Date(app.clock.now() + 60_000)],
  )
  assert.equal(await erase(partner, '+919810000001'), 200)
  await passDays(app)
  assert.deepEqual(await countMessages(app, partner.orgId), { sent: 0, waiting: 0 })
})

test('an email that is not sent yet is not sent after the reviewer or the student is erased', async (t) => {
  const smtp = await startSmtp()
  const app = await startApp(t, { config: { smtpUrl: smtp.url } })
  t.after(smtp.stop)
  const { orgId, key } = await app.fixtures.createOrg()
  const partner = app.as(key)
  const calls = verificationCalls(app, orgId, await app.fixtures.createSessionKey(orgId))
  const erased = [
    await calls.requestReview({ student: { email: 'a@example.com' }, reviewer: { email: 'first@metro.example' } }),
    await calls.requestReview({
      student: { externalStudentId: 'stu-2', email: 'erased-student@example.com' },
      reviewer: { email: 'second@metro.example' },
    }),
  ]
  const kept = await calls.requestReview({
    student: { externalStudentId: 'stu-3', email: 'c@example.com' },
    reviewer: { email: 'third@metro.example' },
  })
  assert.equal(await erase(partner, 'first@metro.example'), 200)
  assert.equal(await erase(partner, 'erased-student@example.com'), 200)
  const worker = await startApp(t, {
    worker: true,
    clock: app.clock,
    config: {
      databaseUrl: app.context.config.databaseUrl,
      databaseOwnerUrl: app.context.config.databaseOwnerUrl,
      masterKey: app.context.config.masterKey,
      smtpUrl: smtp.url,
    },
  })
  await until(
    async () => (await verificationCalls(worker, orgId, 'unused').listEmails(kept.session))[0]!.status === 'sent',
  )
  assert.equal(smtp.received.length, 1, 'only the email about the person who was not erased')
  for (const { session } of erased) {
    const [email] = await calls.listEmails(session)
    assert.deepEqual([email!.status, email!.to_address], ['skipped', 'erased'])
  }
})

test('an erasure during enrolment calls leaves no candidate of an erased person waiting', async () => {
  const { app, partner, mandate_id } = await setUp()
  const { campaign } = await partner.createCampaign(mandate_id, [aCandidate(1)])
  for (let round = 0; round < 5; round++) {
    const others = Array.from({ length: 30 }, (_, index) => aCandidate(100 + round * 100 + index))
    const again = Array.from({ length: 3 }, () => partner.createCampaign(mandate_id, [aCandidate(1), ...others]))
    const erasure = erase(partner, '+919810000001')
    const [status] = await Promise.all([erasure, ...again])
    assert.equal(status, 200)
    const { rowCount } = await app.context.db.pool.query(
      `select from candidates c join people using (person_id) join candidate_progress p using (candidate_id)
       left join contacts using (candidate_id)
       where people.erased_at is not null and (p.status = 'pending' or c.phone_index is not null or contacts.candidate_id is not null)`,
    )
    assert.equal(rowCount, 0)
    await partner.createCampaign(mandate_id, [aCandidate(1)]) // so that the next round has somebody to erase
  }
  await contactNow(app.context)
  assert.equal((await partner.get(`/campaigns/${campaign.campaign_id}`)).status, 200)
})
