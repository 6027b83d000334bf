import assert from 'node:assert/strict'
import { test } from 'node:test'
import { sql } from 'kysely'
import PostalMime from 'postal-mime'
import { startApp, type TestApp } from '../../../test/support/app.ts'
import { aPerson, startAts, startReports } from '../../../test/support/ats/connection.ts'
import { inviteCandidates, keyIndex } from '../../../test/support/candidate.ts'
import { oncePerFile } from '../../../test/support/cleanup.ts'
import { type ConsoleUser, signIn, signInMember } from '../../../test/support/console.ts'
import { aCandidate, aTestNumberCandidate, createCampaignPartner, passTime } from '../../../test/support/partners.ts'
import { startSmtp } from '../../../test/support/smtp.ts'
import { until } from '../../../test/support/until.ts'
import { contactNow } from '../../campaigns/contact/engine.ts'
import { SendError } from '../../channels/channel.ts'
import { simulatedReply } from '../../channels/simulator/simulated-reply.ts'
import { DAY, HOUR } from '../../platform/clock.ts'
import { endpointFailing } from '../../webhooks/delivery/health.ts'
import { emailNotifications } from './digests.ts'
import { addNotifications, deleteOldNotifications } from './notifications.ts'
import { nextDigestTime } from './settings.ts'

const getApp = oncePerFile((t) => startApp(t))
const DAILY = {
  kinds: ['results', 'failures', 'credits', 'skill_requests'],
  digest: 'daily',
  digest_hour: 9,
  time_zone: 'Asia/Kolkata',
  immediate_failures: false,
}

async function listTexts(user: ConsoleUser, orgId: string, mode = 'test'): Promise<string[]> {
  const { status, body } = await user.get(`/orgs/${orgId}/${mode}/notifications`)
  assert.equal(status, 200, JSON.stringify(body))
  return body.data.items.map(({ text }: { text: string }) => text).sort()
}

async function countUnread(user: ConsoleUser, orgId: string, mode = 'test'): Promise<number> {
  return (await user.get(`/orgs/${orgId}/${mode}/notifications/unread`)).body.data.unread
}

async function saveSettings(user: ConsoleUser, orgId: string, settings: object): Promise<void> {
  const { status, body } = await user.put(`/orgs/${orgId}/notification-settings`, settings)
  assert.equal(status, 200, JSON.stringify(body))
}

/** Returns the subjects of the notification emails to a member, oldest first. */
async function listEmails(app: TestApp, { email }: ConsoleUser): Promise<string[]> {
  const operator = await signIn(app)
  const { body } = await operator.get(`/operator/mails?kind=digest&q=${encodeURIComponent(email)}&limit=50`)
  const subjects: string[] = []
  for (const { mail_id } of body.data.items)
    subjects.unshift((await operator.get(`/operator/mails/${mail_id}`)).body.data.subject)
  return subjects
}

/** Requests a skill, which an operator rejects: a LIVE notification. */
async function rejectSkillRequest(app: TestApp, partner: { post: any }, name: string): Promise<void> {
  const { request_id } = (await partner.post('/skill-requests', { name })).body.data
  assert.equal((await (await signIn(app)).post(`/operator/skill-requests/${request_id}/reject`, {})).status, 200)
}

test('results are counted per campaign and day, are unread for each member until marked, and again after new results', async () => {
  const app = await getApp()
  const partner = await createCampaignPartner(app)
  const { mandate_id } = await partner.createMandate()
  const { campaign } = await partner.createCampaign(
    mandate_id,
    [1, 2, 3].map((number) => aTestNumberCandidate(number)),
    {
      name: 'March intake',
    },
  )
  await passTime(app, 8000)
  const viewer = await signInMember(app, partner.orgId, 'viewer')
  const owner = await signInMember(app, partner.orgId, 'owner')
  assert.deepEqual(await listTexts(viewer, partner.orgId), [
    '1 candidate qualified in “March intake”',
    '2 candidates ended without qualifying in “March intake”',
  ])
  const { body } = await viewer.get(`/orgs/${partner.orgId}/test/notifications`)
  const qualified = body.data.items.find(({ text }: any) => text.includes('1 candidate qualified'))
  assert.equal(qualified.path, `/results?campaign_id=${campaign.campaign_id}&verdict=qualified`)
  assert.equal(await countUnread(viewer, partner.orgId), 2)
  assert.equal(await countUnread(viewer, partner.orgId, 'live'), 0)

  assert.equal((await viewer.post(`/orgs/${partner.orgId}/test/notifications/read`)).status, 200)
  assert.deepEqual([await countUnread(viewer, partner.orgId), await countUnread(owner, partner.orgId)], [0, 2])
  await partner.enrol(campaign.campaign_id, [aTestNumberCandidate(4)])
  await passTime(app, 8000)
  assert.equal(await countUnread(viewer, partner.orgId), 1)
  assert.ok((await listTexts(viewer, partner.orgId)).includes('2 candidates qualified in “March intake”'))
  const newest = async () => (await viewer.get(`/orgs/${partner.orgId}/test/notifications`)).body.data.items[0].text
  assert.equal(await newest(), '2 candidates qualified in “March intake”')
  await partner.enrol(campaign.campaign_id, [aTestNumberCandidate(5)])
  await passTime(app, 8000)
  assert.equal(await newest(), '3 candidates ended without qualifying in “March intake”')
  await partner.enrol(campaign.campaign_id, [aTestNumberCandidate(11)])
  await passTime(app, 20_000)
  assert.equal(
    await newest(),
    '1 candidate is undecided in “March intake”',
    'not counted among those who do not qualify',
  )

  await saveSettings(viewer, partner.orgId, { ...DAILY, digest: 'off', kinds: ['credits'] })
  assert.deepEqual(await listTexts(viewer, partner.orgId), [])
  assert.equal(await countUnread(viewer, partner.orgId), 0)

  const stranger = await signInMember(app, (await app.fixtures.createOrg()).orgId, 'owner')
  assert.equal((await stranger.get(`/orgs/${partner.orgId}/test/notifications`)).status, 404)
  assert.equal((await (await signIn(app)).get(`/orgs/${partner.orgId}/test/notifications`)).status, 403)

  app.clock.advance(91 * DAY)
  await app.context.db.transaction((tx) => deleteOldNotifications(tx, app.clock.now()))
  assert.deepEqual(await listTexts(await signIn(app, owner.email), partner.orgId), [])
})

test('a poll of an unchanged count transfers no body', async () => {
  const app = await getApp()
  const { orgId } = await app.fixtures.createOrg()
  const viewer = await signInMember(app, orgId, 'viewer')
  const path = `/orgs/${orgId}/test/notifications/unread`
  const first = await viewer.get(path)
  const second = await viewer.call('GET', path, undefined, { 'if-none-match': first.headers.get('etag')! })
  assert.equal(second.status, 304)
})

test('low and exhausted credits are announced once, when the balance crosses the limit', async () => {
  const app = await getApp()
  const partner = await createCampaignPartner(app, { credits: 101 })
  const { mandate_id } = await partner.createMandate()
  const { campaign } = await partner.createCampaign(mandate_id, [aCandidate(1)])
  const owner = await signInMember(app, partner.orgId, 'owner')
  assert.deepEqual(await listTexts(owner, partner.orgId), [], '100 credits are not low')
  await partner.enrol(campaign.campaign_id, [aCandidate(2)])
  assert.deepEqual(await listTexts(owner, partner.orgId), ['Credits are low: 99 left'])
  await partner.enrol(campaign.campaign_id, [aCandidate(3)])
  assert.deepEqual(await listTexts(owner, partner.orgId), ['Credits are low: 99 left'])
  const rest = Array.from({ length: 98 }, (_, index) => aCandidate(index + 4))
  assert.equal((await partner.enrol(campaign.campaign_id, rest)).status, 202)
  assert.deepEqual(await listTexts(owner, partner.orgId), [
    'Credits are low: 99 left',
    'No credits are left: candidates cannot be enrolled',
  ])
})

test('decided skill requests, failing endpoints and failed ATS reports are announced', async (t) => {
  const app = await getApp()
  startReports(t, app)
  const setup = await startAts(t, app, 'greenhouse')
  const { orgId } = setup.partner
  const owner = await signInMember(app, orgId, 'owner')
  setup.ats.react = () => ({ status: 404 })
  const { mandate_id } = await setup.partner.createMandate()
  await setup.ats.order('order-1', mandate_id, aPerson(1, 1))
  await passTime(app, 10_000)
  const failedReport = /^(A report|\d reports) to Greenhouse failed and will not be retried$/
  await until(async () => (await listTexts(owner, orgId)).some((text) => failedReport.test(text)))

  await rejectSkillRequest(app, setup.partner, 'Bamboo scaffolding tying')
  const webhook = await setup.partner.post('/webhooks', {
    url: 'https://partner.example/hook',
  })
  const { webhook_id } = webhook.body.data
  await app.context.db.transaction((tx) => endpointFailing.run(tx, app.context, webhook_id))
  const texts = await listTexts(owner, orgId)
  assert.ok(texts.includes('The request for the skill “Bamboo scaffolding tying” was rejected'))
  assert.ok(texts.includes('All deliveries to the webhook endpoint https://partner.example/hook have failed for a day'))
})

test('a daily digest is sent once at the chosen hour, also by two processes, and only if there is something new', async () => {
  const app = await getApp()
  const partner = await createCampaignPartner(app, { mode: 'live' })
  const recruiter = await signInMember(app, partner.orgId, 'recruiter')
  await rejectSkillRequest(app, partner, `Earlier skill of ${partner.orgId}`)
  app.clock.advance(1000)
  await saveSettings(recruiter, partner.orgId, DAILY)
  const send = () => Promise.all([emailNotifications(app.context), emailNotifications(app.context)])
  app.clock.advance(DAY)
  await send()
  assert.deepEqual(await listEmails(app, recruiter), [], 'notifications from before the emails were switched on')

  await rejectSkillRequest(app, partner, `New skill of ${partner.orgId}`)
  await send()
  assert.deepEqual(await listEmails(app, recruiter), [], 'not before the hour')
  app.clock.set(new Date(nextDigestTime(app.clock.now(), 9, 'Asia/Kolkata')).toISOString())
  const { config, queue } = app.context
  const crash = emailNotifications({
    ...app.context,
    config: { ...config, smtpUrl: 'smtp://127.0.0.1:1' },
    queue: { ...queue, enqueue: () => Promise.reject(new Error('the process ended after the email was stored')) },
  })
  await assert.rejects(crash, /the process ended/)
  assert.deepEqual(await listEmails(app, recruiter), [], 'a crash leaves nothing behind')
  await send()
  await send()
  assert.deepEqual(await listEmails(app, recruiter), ['What is new in Acme Staffing'])
  app.clock.advance(DAY)
  await send()
  assert.equal((await listEmails(app, recruiter)).length, 1, 'nothing new')

  const testPartner = await createCampaignPartner(app, { orgId: partner.orgId })
  await rejectSkillRequest(app, testPartner, `Test skill of ${partner.orgId}`)
  app.clock.advance(DAY)
  await send()
  assert.equal((await listEmails(app, recruiter)).length, 1, 'TEST mode sends no emails')
})

test('a digest shows the verdicts of new results with their evidence in words, without names', async (t) => {
  const smtp = await startSmtp()
  const app = await startApp(t, {
    worker: true,
    config: { smtpUrl: smtp.url, mailFrom: 'Attestry <post@example.org>' },
  })
  t.after(smtp.stop)
  app.context.channels.whatsapp = { name: 'whatsapp', send: async () => ({ providerId: undefined }) }
  app.clock.set('2026-03-11T06:30:00Z') // noon in India
  const partner = await createCampaignPartner(app, { mode: 'live' })
  const recruiter = await signInMember(app, partner.orgId, 'recruiter')
  const hindiRecruiter = await signInMember(app, partner.orgId, 'recruiter')
  assert.equal((await hindiRecruiter.put('/account/language', { language: 'hi' })).status, 200)
  for (const each of [recruiter, hindiRecruiter]) await saveSettings(each, partner.orgId, DAILY)
  app.clock.advance(1000)
  const { mandate_id } = await partner.createMandate(
    { default_methods: ['skill_verification'], channels: ['whatsapp'] },
    { skills: [{ skill_id: 'sk_2001', verify: true }], enrichment_questions: [] },
  )
  await until(async () => (await partner.get(`/mandates/${mandate_id}`)).body.data.status === 'ready')
  const invited = await inviteCandidates(
    app,
    partner,
    mandate_id,
    Array.from({ length: 9 }, (_, index) => aCandidate(index + 1)),
  )
  /** Answers all questions right or wrong. */
  const finish = async ({ page, getCandidacy, getResult }: (typeof invited)[number], isRight: boolean) => {
    let { status } = await page.reply({ value: 'yes' })
    while (status === 'open') {
      const key = keyIndex((await getCandidacy()).state)!
      status = (await page.reply({ value: String(isRight ? key : (key + 1) % 4) })).status
    }
    return getResult()
  }
  const [able, unable, undecided, ...others] = invited
  const [verified, notVerified] = [await finish(able!, true), await finish(unable!, false)]
  assert.deepEqual([verified.output.qualified, notVerified.output.qualified], [true, false])
  let isOpen = (await undecided!.page.reply({ value: 'yes' })).status === 'open'
  while (isOpen) {
    const { state, flow } = await undecided!.getCandidacy()
    const { value } = simulatedReply({ skill_answers: ['undecided'] }, state, flow, 0) as { value: string }
    isOpen = (await undecided!.page.reply({ value })).status === 'open'
  }
  app.clock.advance(1000)
  for (const other of others) await finish(other, false)
  const [restricted] = others
  await sql`update people set restricted_at = now() where person_id = (
    select person_id from candidates where candidate_id = ${restricted!.candidateId})`.execute(app.context.db.queries)
  app.clock.advance(DAY)
  await emailNotifications(app.context)

  await until(() => smtp.received.length === 2)
  const emails = await Promise.all(smtp.received.map((received) => PostalMime.parse(received)))
  const { text, html } = emails.find(({ to }) => to![0]!.address === recruiter.email) as { text: string; html: string }
  const base = `${app.context.config.publicUrl ?? ''}/console/${partner.orgId}/live`
  const [skill] = verified.output.skills
  assert.match(skill.summary, /^\d of \d correct, 9\d % certain$/)
  const line = `Qualified: ${skill.name} verified (${skill.summary})`
  assert.ok(text.includes(`- ${line}\n  ${base}/results/${verified.result_id}\n`), text)
  assert.ok(html.includes(`<a href="${base}/results/${verified.result_id}" style="color:#0a6550">${line}</a>`), html)
  const rejections = [...text.matchAll(/^- Not qualified: .+ not verified \(0 of \d correct, 9\d % certain\)$/gm)]
  assert.equal(rejections.length, 5, 'the newest five of a campaign and day')
  assert.match(text, /1 candidate is undecided in/)
  assert.match(text, /^- Undecided: .+ inconclusive \(\d of 8 correct\)$/m)
  assert.ok(!text.includes(notVerified.result_id), 'the oldest is not listed')
  assert.ok(!text.includes((await restricted!.getResult()).result_id))
  assert.doesNotMatch(text + html, /Person \d|ext-\d|\+9198/)

  const hindi = emails.find(({ to }) => to![0]!.address === hindiRecruiter.email)! as { text: string; html: string }
  const { correct, asked, confidence } = skill
  const hindiLine = `योग्य: ${skill.name} सत्यापित (${asked} में से ${correct} सही, ${Math.floor(confidence * 100)} % निश्चित)`
  assert.ok(hindi.text.includes(`- ${hindiLine}\n  ${base}/results/${verified.result_id}\n`), hindi.text)
  assert.ok(hindi.html.includes(`>${hindiLine}</a>`), hindi.html)
  const hindiRejections = hindi.text.matchAll(/^- योग्य नहीं: .+ सत्यापित नहीं \(\d में से 0 सही, 9\d % निश्चित\)$/gm)
  assert.equal([...hindiRejections].length, 5)
  assert.match(hindi.text, /^“.+” में 1 उम्मीदवार का नतीजा तय नहीं हो पाया$/m)
  assert.match(hindi.text, /^- तय नहीं: .+ अनिर्णायक \(8 में से \d सही\)$/m)
})

test('a member who chose Hindi gets single notifications and the digest in Hindi, and in English after changing back', async (t) => {
  const smtp = await startSmtp()
  const app = await startApp(t, {
    worker: true,
    config: { smtpUrl: smtp.url, mailFrom: 'Attestry <post@example.org>' },
  })
  t.after(smtp.stop)
  app.context.channels.whatsapp = {
    name: 'whatsapp',
    async send() {
      throw new SendError('rejected', '190: the access token has expired')
    },
  }
  app.clock.set('2026-03-11T06:30:00Z') // noon in India
  const partner = await createCampaignPartner(app, { mode: 'live' })
  const asha = await signInMember(app, partner.orgId, 'recruiter')
  const choose = async (language: string) => {
    const { body } = await (await signIn(app, asha.email)).put('/account/language', { language })
    assert.equal(body.data.language, language)
  }
  await choose('hi')
  await saveSettings(asha, partner.orgId, { ...DAILY, immediate_failures: true })
  app.clock.advance(1000)
  const receive = async (count: number) => {
    await emailNotifications(app.context)
    await until(() => smtp.received.length === count)
    return (await PostalMime.parse(smtp.received[count - 1]!)) as { subject: string; text: string; html: string }
  }

  const { mandate_id } = await partner.createMandate({ channels: ['whatsapp'] })
  await until(async () => (await partner.get(`/mandates/${mandate_id}`)).body.data.status === 'ready')
  await partner.createCampaign(mandate_id, [aCandidate(1)])
  await contactNow(app.context)
  await until(async () => (await countUnread(asha, partner.orgId, 'live')) > 0)
  const failure = await receive(1)
  assert.equal(failure.subject, 'Acme Staffing: कुछ विफल हुआ है')
  const reason = 'WhatsApp संदेश नहीं पहुँच रहे हैं: प्रोवाइडर ने खाता या उसके क्रेडेंशियल स्वीकार नहीं किए'
  assert.ok(failure.text.startsWith(`${reason}\nhttp`), failure.text)
  assert.ok(failure.html.includes(`>${reason}</a>`), failure.html)
  assert.match(failure.html, /<html lang="hi">/)
  assert.match(failure.html, />सूचनाएँ चुनें<\/a>[\s\S]+>ये ईमेल बंद करें<\/a>/)
  assert.doesNotMatch(failure.text, /Choose|emails|fail/)
  const unsubscribePath = new URL(/https?:\/\/\S+\/unsubscribe\/\S+/.exec(failure.text)![0]).pathname
  const page = await app.fetch(unsubscribePath, { headers: { 'accept-language': 'en' } })
  assert.match(page.body, /<html lang="hi">[\s\S]+क्या आप इस संगठन की सूचनाओं के ईमेल बंद करना चाहते हैं\?/)

  await rejectSkillRequest(app, partner, 'Bamboo scaffolding tying')
  await app.context.db.transaction((tx) =>
    addNotifications(tx, app.clock, partner.scope, [
      { type: 'candidates_ended', subject: 'CP_1', count: 123_456 },
      { type: 'credits_low', subject: 'credits', details: { balance: 99 } },
    ]),
  )
  app.clock.advance(DAY)
  const digest = await receive(2)
  assert.equal(digest.subject, 'Acme Staffing में नया क्या है')
  assert.match(digest.text, /^कौशल “Bamboo scaffolding tying” जोड़ने का अनुरोध अस्वीकार किया गया$/m)
  assert.match(digest.text, /^“CP_1” में 1,23,456 उम्मीदवारों की बातचीत समाप्त हुई, पर वे योग्य नहीं पाए गए$/m)
  assert.match(digest.text, /^क्रेडिट कम हैं: केवल 99 बाकी$/m)

  await choose('en')
  await rejectSkillRequest(app, partner, 'Bamboo floor laying')
  app.clock.advance(DAY)
  const english = await receive(3)
  assert.equal(english.subject, 'What is new in Acme Staffing')
  assert.match(english.text, /^The request for the skill “Bamboo floor laying” was rejected$/m)
  assert.match(english.html, /<html lang="en">/)
  assert.match((await app.fetch(unsubscribePath)).body, /Do you want to stop emails with notifications/)
})

test('a digest describes the newest 50 notifications, and counts the others', async () => {
  const app = await getApp()
  const partner = await createCampaignPartner(app, { mode: 'live' })
  const recruiter = await signInMember(app, partner.orgId, 'recruiter')
  await saveSettings(recruiter, partner.orgId, DAILY)
  for (let number = 1; number <= 52; number++) {
    app.clock.advance(1000)
    const type = 'skill_request_rejected' as const
    await app.context.db.transaction((tx) =>
      addNotifications(tx, app.clock, partner.scope, [
        { type, subject: `SR_${number}`, details: { name: `Skill ${number}.` } },
      ]),
    )
  }
  app.clock.advance(DAY)
  await emailNotifications(app.context)
  const operator = await signIn(app)
  const { body } = await operator.get(`/operator/mails?kind=digest&q=${encodeURIComponent(recruiter.email)}`)
  assert.equal(body.data.items.length, 1)
  const { text } = (await operator.get(`/operator/mails/${body.data.items[0].mail_id}`)).body.data
  assert.deepEqual(
    [...text.matchAll(/Skill (\d+)\./g)].map(([, number]) => Number(number)),
    Array.from({ length: 50 }, (_, index) => 52 - index),
  )
  assert.match(text, /^2 more are in the console\.$/m)
})

test('failures are emailed immediately to members who want it, once per reason and day, and one click stops the emails', async (t) => {
  const smtp = await startSmtp()
  const app = await startApp(t, {
    worker: true,
    config: { smtpUrl: smtp.url, mailFrom: 'Attestry <post@example.org>' },
  })
  t.after(smtp.stop)
  app.context.channels.whatsapp = {
    name: 'whatsapp',
    async send() {
      throw new SendError('rejected', '190: the access token has expired')
    },
  }
  app.clock.set('2026-03-11T06:30:00Z') // noon in India
  const partner = await createCampaignPartner(app, { mode: 'live' })
  const [keen, quiet] = [
    await signInMember(app, partner.orgId, 'recruiter'),
    await signInMember(app, partner.orgId, 'recruiter'),
  ]
  await saveSettings(keen, partner.orgId, { ...DAILY, digest: 'off', immediate_failures: true })
  app.clock.advance(1000)
  const { mandate_id } = await partner.createMandate({ channels: ['whatsapp'] })
  await until(async () => (await partner.get(`/mandates/${mandate_id}`)).body.data.status === 'ready')
  const { campaign } = await partner.createCampaign(mandate_id, [aCandidate(1)])
  await contactNow(app.context)
  await until(async () => (await countUnread(quiet, partner.orgId, 'live')) > 0)
  assert.ok((await listTexts(quiet, partner.orgId, 'live')).some((text) => text.startsWith('WhatsApp messages fail: ')))
  await emailNotifications(app.context)
  await until(() => smtp.received.length === 1)
  const email = await PostalMime.parse(smtp.received[0]!)
  assert.equal(email.to![0]!.address, keen.email)
  assert.equal(email.subject, 'A failure in Acme Staffing')
  assert.match(email.text!, /WhatsApp messages fail: .+\nhttp\S+\/live\/channels/)
  assert.doesNotMatch(email.text!, /Person 1|\+9198/)
  const header = (name: string) => email.headers.find(({ key }) => key === name)?.value
  assert.equal(header('list-unsubscribe-post'), 'List-Unsubscribe=One-Click')

  await partner.enrol(campaign.campaign_id, [aCandidate(2)])
  await contactNow(app.context)
  await emailNotifications(app.context)
  assert.equal((await listEmails(app, keen)).length, 1)

  const { pathname } = new URL(/https?:\/\/\S+\/unsubscribe\/\S+/.exec(email.text!)![0])
  assert.equal(
    (
      await app.fetch(pathname, {
        method: 'POST',
        body: 'List-Unsubscribe=One-Click',
        headers: { 'content-type': 'application/x-www-form-urlencoded' },
      })
    ).status,
    200,
  )
  const { data } = (await keen.get(`/orgs/${partner.orgId}/notification-settings`)).body
  assert.deepEqual([data.digest, data.immediate_failures], ['off', false])
  app.clock.advance(DAY)
  await partner.enrol(campaign.campaign_id, [aCandidate(3)])
  await contactNow(app.context)
  await emailNotifications(app.context)
  assert.equal((await listEmails(app, keen)).length, 1)
})

test('the hour of the digest is that of the chosen time zone, also when clocks change', () => {
  const next = (now: string, hour: number, zone: string) =>
    new Date(nextDigestTime(Date.parse(now), hour, zone)).toISOString()
  assert.equal(next('2026-03-11T03:29:59Z', 9, 'Asia/Kolkata'), '2026-03-11T03:30:00.000Z')
  assert.equal(next('2026-03-11T03:30:00Z', 9, 'Asia/Kolkata'), '2026-03-12T03:30:00.000Z')
  assert.equal(next('2026-03-28T12:00:00Z', 9, 'Europe/Berlin'), '2026-03-29T07:00:00.000Z')
  assert.equal(next('2026-03-28T12:00:00Z', 2, 'Europe/Berlin'), '2026-03-30T00:00:00.000Z', 'the 29th has no hour 2')
  assert.equal(next('2026-03-11T12:00:00Z', 0, 'Asia/Kathmandu'), '2026-03-11T18:15:00.000Z')
  assert.ok(nextDigestTime(0, 5, 'UTC') === 5 * HOUR)
})

test('settings with an unknown time zone or kind are rejected', async () => {
  const app = await getApp()
  const { orgId } = await app.fixtures.createOrg()
  const viewer = await signInMember(app, orgId, 'viewer')
  const path = `/orgs/${orgId}/notification-settings`
  const rejected = await viewer.put(path, { ...DAILY, time_zone: 'Mars/Base' })
  assert.equal(rejected.status, 400)
  assert.match(JSON.stringify(rejected.body), /time_zone.*must be the name of a time zone/)
  assert.equal((await viewer.put(path, { ...DAILY, kinds: ['everything'] })).status, 400)
  assert.equal((await viewer.put(path, { ...DAILY, digest_hour: 24 })).status, 400)
  assert.equal((await viewer.get(path)).body.data.digest, 'off')
})
