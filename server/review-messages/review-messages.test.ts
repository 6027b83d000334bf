import assert from 'node:assert/strict'
import type { ServerResponse } from 'node:http'
import { text } from 'node:stream/consumers'
import { test } from 'node:test'
import { getCACertificates, setDefaultCACertificates } from 'node:tls'
import { sql } from 'kysely'
import { startApp } from '../../test/support/app.ts'
import { oncePerFile } from '../../test/support/cleanup.ts'
import { signIn, signInMember } from '../../test/support/console.ts'
import { httpsSkipReason, startHttpsServer } from '../../test/support/https-server.ts'
import { registerAtPortal, startIndianProviders } from '../../test/support/india.ts'
import { createPartner } from '../../test/support/partners.ts'
import {
  cloudError,
  cloudWebhook,
  EXOTEL,
  startProvider,
  TWILIO,
  twilioWebhook,
  WHATSAPP,
} from '../../test/support/provider.ts'
import {
  BRICKLAYING,
  expectOk,
  outcomeOf,
  type TestSession,
  verificationCalls,
} from '../../test/support/verification.ts'
import { switchService } from '../access/service-switch.ts'
import { setDndCheck } from '../campaigns/dnd/dnd-check.ts'
import { saveCredentials } from '../channels/credentials.ts'
import { defaultTexts } from '../channels/templates/default-texts.ts'
import { dltCsv, whatsappRequest } from '../channels/templates/export.ts'
import { readDltIds } from '../channels/templates/import.ts'
import { listTemplates, recordReports, saveTemplates, templateRule } from '../channels/templates/register.ts'
import { DAY, HOUR, MINUTE } from '../platform/clock.ts'
import { remindReviewers } from '../verification/reviews/review-requests.ts'
import { sendReviewMessagesNow } from './engine.ts'

const COMPANY = 'Acme Staffing'
const PHONE = '+919812345678'
const US_PHONE = '+12025550143'

const setUp = oncePerFile(async (t) => {
  const app = await startApp(t, { config: { mailLimits: { perRecipient: 1000, perOrganisation: 1000 } } })
  const india = await startIndianProviders(t, app.clock)
  const twilio = await startProvider(t)
  return { app, india, twilio }
})

type SetUpChannel = 'whatsapp' | 'exotel' | 'twilio'

/** Creates an organisation at noon with channels and, unless told otherwise, with approved texts. */
async function createOrganisation(
  channels: SetUpChannel[],
  { mode = 'live' as 'test' | 'live', hasTexts = true } = {},
) {
  const { app, india, twilio } = await setUp()
  const { context, clock, fixtures } = app
  const { db, vault } = context
  clock.set(new Date(Math.floor(clock.now() / DAY + 1) * DAY + 6.5 * HOUR).toISOString()) // 12:00 in India
  // A number that earlier tests wrote to is free again on the next day.
  await sql`update review_messages set state = 'skipped' where state = 'queued'`.execute(db.queries)
  india.sent.length = 0
  twilio.received.length = 0
  const { orgId } = await fixtures.createOrg()
  const scope = { orgId, mode: 'live' as const }
  const channelIds: Partial<Record<SetUpChannel, string>> = {}
  const settings = {
    whatsapp: { ...WHATSAPP, template: undefined, base_url: india.url },
    exotel: { ...EXOTEL, templates: undefined, base_url: india.url },
    twilio: { ...TWILIO, from: '+14155550100', base_url: twilio.url },
  }
  await db.transaction(async (tx) => {
    for (const channel of channels)
      channelIds[channel] = await saveCredentials(
        tx,
        vault,
        clock,
        orgId,
        channel === 'whatsapp' ? 'whatsapp' : 'sms',
        settings[channel],
      )
    if (!hasTexts) return
    for (const channel of ['sms', 'whatsapp'] as const)
      await saveTemplates(tx, clock, scope, defaultTexts(channel, COMPANY, templateRule(channel)))
    const templates = await listTemplates(tx, scope)
    const assignedIds = registerAtPortal(dltCsv(templates, { header: EXOTEL.from }), india.operator)
    await saveTemplates(tx, clock, scope, readDltIds(assignedIds, templates))
    const requests = templates.filter(({ channel }) => channel === 'whatsapp').map(whatsappRequest)
    india.cloudTemplates.push(...requests)
    const reports = requests.map(({ name, language, components }, index) => ({
      name,
      languageCode: language,
      registryId: String(594425479261596 + index),
      numberedText: (components[0] as { text: string }).text,
      status: 'approved' as const,
    }))
    await recordReports(tx, clock, scope, reports)
  })
  const calls = verificationCalls(app, orgId, await fixtures.createSessionKey(orgId, mode), mode)
  const { email } = await signInMember(app, orgId, 'owner')
  /** Returns the verification as the console shows it. */
  async function getDetails({ id }: TestSession) {
    const owner = await signIn(app, email) // tests advance the clock by more than a console session lasts
    return (await owner.get(`/orgs/${orgId}/${mode}/verifications/${id}`)).body.data
  }
  return {
    ...calls,
    channelIds,
    send: () => sendReviewMessagesNow(context),
    getDetails,
    /** Returns the channel and the state of each message, newest first. */
    async listMessages(session: TestSession): Promise<string[]> {
      const { messages } = await getDetails(session)
      return messages.map(({ kind, channel, state }: any) => `${kind} ${channel} ${state}`)
    },
  }
}

test('a reviewer with a phone number gets the link by WhatsApp, in addition to the email, and can use it', async () => {
  const { india } = await setUp()
  const organisation = await createOrganisation(['whatsapp', 'exotel'])
  const { session } = await organisation.requestReview({ reviewer: { phone: PHONE } })
  assert.deepEqual(await organisation.listMessages(session), ['review_request whatsapp queued'])
  await organisation.send()
  await organisation.send()
  assert.deepEqual(india.refusals, [])
  assert.equal(india.sent.length, 1, 'the message is sent once')
  const [message] = india.sent
  assert.equal(message!.to, PHONE.slice(1))
  assert.equal(message!.template, 'attestry_review_request en')
  const [student, link] = message!.text.split(' | ')
  assert.equal(student, 'Asha Rao')
  assert.equal(message!.form.template.components.length, 1, 'the template has no buttons')
  assert.equal((await organisation.listEmails(session)).length, 1)
  const details = await organisation.getDetails(session)
  assert.equal(details.reviewer.phone, PHONE)
  assert.equal(details.messages[0].state, 'sent')
  assert.equal(details.messages[0].text, null, 'LIVE texts are not stored')
  const token = link!.split('#token=')[1]!
  await expectOk(organisation.submitReview(session, token, { decisions: [{ skillId: BRICKLAYING, endorsed: true }] }))
})

test('the phone number is returned to the partner and the student, and not in the response that needs no key', async () => {
  const organisation = await createOrganisation(['whatsapp'])
  const session = await organisation.openPreparedSession('human')
  const { body } = await organisation.storeReviewer(session, { phone: PHONE })
  assert.equal(body.data.phone, PHONE)
  assert.equal((await organisation.getFullVerification(session)).reviewer.phone, PHONE)
  const open = await organisation.call('GET', `/storereviewerdetails/${session.id}`)
  assert.equal(open.body.data.phone, undefined)
  assert.ok(!JSON.stringify(await organisation.getReviewPage(session)).includes(PHONE))
})

test('without WhatsApp, the link is sent by SMS: with the registered text in India, without a request for a reply', async () => {
  const { india } = await setUp()
  const organisation = await createOrganisation(['exotel'])
  const { session } = await organisation.requestReview({ reviewer: { phone: PHONE } })
  await organisation.send()
  assert.deepEqual(india.refusals, [])
  const [message] = india.sent
  assert.match(
    message!.text,
    /^Acme Staffing: Asha Rao asks you to confirm skills from work that you have seen\. It takes about a minute: http\S+$/,
  )
  assert.ok(message!.text.length <= 2 * 153, `two segments: ${message!.text.length} characters`)
  assert.deepEqual(await organisation.listMessages(session), ['review_request sms sent'])
})

test('an SMS outside India mentions STOP, and a reply of STOP ends the messages, but not the emails', async () => {
  const { app, twilio } = await setUp()
  const organisation = await createOrganisation(['twilio'])
  const { session } = await organisation.requestReview({ reviewer: { phone: US_PHONE } })
  await organisation.send()
  // Contact hours of India and those of the United States overlap only in the Indian evening.
  for (let hours = 0; hours < 24 && twilio.received.length === 0; hours++) {
    app.clock.advance(HOUR)
    await organisation.send()
  }
  assert.match(
    twilio.received[0]!.body.Body,
    /Asha Rao asks you to confirm skills .*\n\nReply STOP at any time to stop\.$/s,
  )
  const path = `/hooks/twilio/${organisation.channelIds.twilio}/sms`
  const stop = twilioWebhook(`${app.context.config.publicUrl}${path}`, {
    MessageSid: `SM${'9'.repeat(32)}`,
    From: US_PHONE,
    To: '+14155550100',
    Body: 'STOP',
  })
  assert.ok((await app.fetch(path, stop)).status < 300)
  app.clock.advance(3 * DAY)
  await remindReviewers(app.context)
  const { messages } = await organisation.getDetails(session)
  assert.equal(messages[0].state, 'skipped')
  assert.equal(messages[0].reason, 'the number has opted out of the messages of the organisation')
  assert.equal((await organisation.listEmails(session)).length, 2)
})

test('an opt-out after the message was queued stops it', async () => {
  const { app, india } = await setUp()
  const organisation = await createOrganisation(['whatsapp'])
  app.clock.advance(10 * HOUR) // 22:00 in India
  const { session } = await organisation.requestReview({ reviewer: { phone: PHONE } })
  await organisation.send()
  assert.equal(india.sent.length, 0, 'nothing is sent at night')
  const message = { from: PHONE.slice(1), id: 'wamid.stop', timestamp: '1', type: 'text', text: { body: 'STOP' } }
  const path = `/hooks/whatsapp/${organisation.channelIds.whatsapp}`
  assert.equal((await app.fetch(path, cloudWebhook({ messages: [message] }))).status, 200)
  app.clock.advance(12 * HOUR)
  await organisation.send()
  assert.equal(india.sent.length, 0)
  assert.deepEqual(await organisation.listMessages(session), ['review_request whatsapp skipped'])
})

test('a message waits for contact hours, and a reminder uses its own text', async () => {
  const { app, india } = await setUp()
  const organisation = await createOrganisation(['whatsapp'])
  app.clock.advance(10 * HOUR)
  const { session } = await organisation.requestReview({ reviewer: { phone: PHONE } })
  await organisation.send()
  assert.equal(india.sent.length, 0)
  app.clock.advance(11 * HOUR + MINUTE) // 09:01
  await organisation.send()
  assert.equal(india.sent.length, 1)
  app.clock.advance(3 * DAY)
  await remindReviewers(app.context)
  await organisation.send()
  assert.equal(india.sent[1]!.template, 'attestry_review_reminder en')
  assert.deepEqual(await organisation.listMessages(session), [
    'review_reminder whatsapp sent',
    'review_request whatsapp sent',
  ])
})

test('without an approved text, the email is the only invitation, and the console shows the reason', async () => {
  const { india } = await setUp()
  const organisation = await createOrganisation(['whatsapp'], { hasTexts: false })
  const { session } = await organisation.requestReview({ reviewer: { phone: PHONE } })
  await organisation.send()
  assert.equal(india.sent.length, 0)
  const { messages } = await organisation.getDetails(session)
  assert.equal(messages[0].state, 'skipped')
  assert.equal(messages[0].channel, null)
  assert.match(messages[0].reason, /^WhatsApp: no WhatsApp template is registered for review_request/)
  assert.equal((await organisation.listEmails(session)).length, 1)

  const without = await createOrganisation([])
  const { session: other } = await without.requestReview({ reviewer: { phone: PHONE } })
  const { messages: otherMessages } = await without.getDetails(other)
  assert.equal(otherMessages[0].reason, 'neither WhatsApp nor SMS is set up for the organisation')
})

test('a number without WhatsApp gets an SMS, also if WhatsApp reports it later', async () => {
  const { app, india } = await setUp()
  const organisation = await createOrganisation(['whatsapp', 'exotel'])
  india.nextResponses.push(cloudError(400, 131026))
  const { session } = await organisation.requestReview({ reviewer: { phone: PHONE } })
  await organisation.send()
  await organisation.send()
  assert.deepEqual(await organisation.listMessages(session), [
    'review_request sms sent',
    'review_request whatsapp failed',
  ])

  const later = await organisation.requestReview({
    student: { externalStudentId: 'stu-2', email: 'bina@example.com' },
    reviewer: { phone: PHONE },
  })
  await organisation.send()
  const { id, form } = india.sent.at(-1)!
  const report = (status: string, fields: object = {}) => ({
    id: `wamid.${id}`,
    status,
    timestamp: '1',
    recipient_id: PHONE.slice(1),
    biz_opaque_callback_data: form.biz_opaque_callback_data,
    ...fields,
  })
  const path = `/hooks/whatsapp/${organisation.channelIds.whatsapp}`
  const failure = report('failed', { errors: [{ code: 131026, title: 'Message undeliverable' }] })
  for (const statuses of [[report('sent')], [failure], [failure]])
    assert.equal((await app.fetch(path, cloudWebhook({ statuses }))).status, 200)
  await organisation.send()
  assert.deepEqual(await organisation.listMessages(later.session), [
    'review_request sms sent',
    'review_request whatsapp failed',
  ])
})

test('reports of the provider advance the state', async () => {
  const { app, india } = await setUp()
  const organisation = await createOrganisation(['whatsapp'])
  const { session } = await organisation.requestReview({ reviewer: { phone: PHONE } })
  await organisation.send()
  const { id, form } = india.sent[0]!
  const messageId = form.biz_opaque_callback_data
  const path = `/hooks/whatsapp/${organisation.channelIds.whatsapp}`
  for (const status of ['read', 'delivered'])
    await app.fetch(
      path,
      cloudWebhook({
        statuses: [
          { id: `wamid.${id}`, status, timestamp: '1', recipient_id: '1', biz_opaque_callback_data: messageId },
        ],
      }),
    )
  assert.deepEqual(await organisation.listMessages(session), ['review_request whatsapp read'])
})

test('a pending message of an erased reviewer or student is never sent, and its number is deleted', async () => {
  const { app, india } = await setUp()
  for (const email of ['ravi.menon@metro.example', 'asha@example.com']) {
    const organisation = await createOrganisation(['whatsapp'])
    const partner = await createPartner(app, 'live', organisation.orgId)
    const { session } = await organisation.requestReview({ reviewer: { phone: PHONE } })
    const { body } = await partner.get(`/people?email=${encodeURIComponent(email)}`)
    const [person] = body.data.items
    await expectOk(partner.post(`/people/${person.person_id}/erase`, { basis: 'request', requested_by: 'the person' }))
    await organisation.send()
    assert.equal(india.sent.length, 0)
    assert.deepEqual(await organisation.listMessages(session), ['review_request whatsapp skipped'])
    const { rows } = await sql`
      select 1 from review_messages where verification_id = ${session.id} and phone_index is not null`.execute(
      app.context.db.queries,
    )
    assert.deepEqual(rows, [])
  }
})

test('the person is found by the phone number, and the export contains it', async () => {
  const { app } = await setUp()
  const organisation = await createOrganisation(['whatsapp'])
  const partner = await createPartner(app, 'live', organisation.orgId)
  await organisation.requestReview({ reviewer: { phone: PHONE } })
  const { body } = await partner.get(`/people?phone=${encodeURIComponent(PHONE)}`)
  assert.equal(body.data.items.length, 1)
  assert.equal(body.data.items[0].reviews.length, 1)
  const exported = await partner.get(`/people/${body.data.items[0].person_id}/export`)
  assert.equal(exported.status, 200)
  const text = JSON.stringify(exported.body)
  assert.ok(text.includes(PHONE))
  assert.ok(text.includes('review_messages'))
})

test('a restricted reviewer gets no message', async () => {
  const { app, india } = await setUp()
  const organisation = await createOrganisation(['whatsapp'])
  const partner = await createPartner(app, 'live', organisation.orgId)
  const { session } = await organisation.requestReview({ reviewer: { phone: PHONE } })
  const { body } = await partner.get(`/people?phone=${encodeURIComponent(PHONE)}`)
  await expectOk(partner.post(`/people/${body.data.items[0].person_id}/restrict`, {}))
  await organisation.send()
  assert.equal(india.sent.length, 0)
  assert.deepEqual(await organisation.listMessages(session), ['review_request whatsapp skipped'])
})

test('the DND check of the organisation is asked before the message: a blocked number gets none, and without a response it waits', {
  skip: httpsSkipReason,
}, async (t) => {
  const { app, india } = await setUp()
  const { context, clock } = app
  let respond = (_: string, response: ServerResponse) => response.writeHead(500).end()
  const server = await startHttpsServer(async (request, response) => {
    respond(await text(request), response)
  })
  t.after(() => server.close())
  setDefaultCACertificates([...getCACertificates(), server.certificate])
  context.config.webhookAllow.push('localhost')
  const organisation = await createOrganisation(['whatsapp'])
  await context.db.transaction((tx) => setDndCheck(tx, context.vault, clock, organisation.orgId, `${server.url}/check`))
  const first = await organisation.requestReview({ reviewer: { phone: PHONE } })
  await organisation.send()
  assert.equal(india.sent.length, 0)
  const [waiting] = (await organisation.getDetails(first.session)).messages
  assert.deepEqual([waiting.state, waiting.reason], ['queued', 'the DND check of the organisation failed'])

  const checkedPhones: string[] = []
  respond = (body, response) => {
    const { numbers } = JSON.parse(body) as { numbers: { id: string; phone: string }[] }
    checkedPhones.push(...numbers.map(({ phone }) => phone))
    return response.end(JSON.stringify({ results: numbers.map(({ id, phone }) => ({ id, blocked: phone !== PHONE })) }))
  }
  await organisation.send()
  assert.deepEqual([india.sent.length, checkedPhones], [0, []], 'the message waits for five minutes')
  clock.advance(5 * MINUTE)
  await organisation.send()
  assert.deepEqual([india.sent.length, checkedPhones], [1, [PHONE]])

  const blockedPhone = '+919876500002'
  const second = await organisation.requestReview({
    student: { externalStudentId: 'stu-blocked', email: 'blocked@example.com' },
    reviewer: { phone: blockedPhone },
  })
  await organisation.send()
  assert.deepEqual([india.sent.length, checkedPhones], [1, [PHONE, blockedPhone]])
  const [blocked] = (await organisation.getDetails(second.session)).messages
  assert.deepEqual([blocked.state, blocked.reason], ['skipped', 'the DND check of the organisation blocks the number'])
})

test('messages of a paused organisation wait', async () => {
  const { app, india } = await setUp()
  const organisation = await createOrganisation(['whatsapp'])
  const { session } = await organisation.requestReview({ reviewer: { phone: PHONE } })
  const switchTo = async (state: 'off' | 'on') => {
    const { context, clock } = app
    const change = { orgId: organisation.orgId, state, reason: 'test' }
    await context.db.transaction((tx) => switchService(tx, clock, change))
    await context.keyring.refresh()
  }
  await switchTo('off')
  await organisation.send()
  assert.equal(india.sent.length, 0)
  await switchTo('on')
  await organisation.send()
  assert.equal(india.sent.length, 1)
  assert.deepEqual(await organisation.listMessages(session), ['review_request whatsapp sent'])
})

test('a message over the daily cap waits for the next day, and costs are counted', async () => {
  const { app, india } = await setUp()
  const organisation = await createOrganisation(['whatsapp'])
  const partner = await createPartner(app, 'live', organisation.orgId)
  await expectOk(partner.put('/spending/daily-cap', { daily_cap: 0.01 }))
  const { session } = await organisation.requestReview({ reviewer: { phone: PHONE } })
  await organisation.send()
  assert.equal(india.sent.length, 0)
  const { messages } = await organisation.getDetails(session)
  assert.equal(messages[0].reason, 'the daily cap of the organisation is reached')
  await expectOk(partner.put('/spending/daily-cap', { daily_cap: 100 }))
  app.clock.advance(HOUR)
  await organisation.send()
  assert.equal(india.sent.length, 1)
  const { body } = await partner.get('/spending')
  assert.ok(body.data.spent_today > 0)
})

test('a number gets at most five messages per day, from all organisations', async () => {
  const states: string[] = []
  let organisation = await createOrganisation(['whatsapp'])
  const { app } = await setUp()
  for (let index = 0; index < 6; index++) {
    if (index === 3) {
      const noon = app.clock.now()
      organisation = await createOrganisation(['whatsapp'])
      app.clock.set(new Date(noon).toISOString()) // the same day
    }
    const { session } = await organisation.requestReview({
      student: { externalStudentId: `stu-${index}`, email: `student-${index}@example.com` },
      reviewer: { phone: '+919876500001' },
    })
    const { messages } = await organisation.getDetails(session)
    states.push(messages[0].state)
  }
  assert.deepEqual(states, ['queued', 'queued', 'queued', 'queued', 'queued', 'skipped'])
})

test('after a crash during the send, the message is unknown and not sent again', async () => {
  const { app, india } = await setUp()
  const organisation = await createOrganisation(['whatsapp'])
  const { session } = await organisation.requestReview({ reviewer: { phone: PHONE } })
  // The row as a process leaves it that is killed between the call to the provider and the response.
  await sql`update review_messages set state = 'sending', leased_until = ${new Date(app.clock.now() + 2 * MINUTE)},
    call_started_at = ${new Date(app.clock.now())} where verification_id = ${session.id}`.execute(
    app.context.db.queries,
  )
  await organisation.send()
  assert.deepEqual(await organisation.listMessages(session), ['review_request whatsapp sending'])
  app.clock.advance(3 * MINUTE)
  await organisation.send()
  assert.equal(india.sent.length, 0)
  assert.deepEqual(await organisation.listMessages(session), ['review_request whatsapp unknown'])
})

test('a phone number that is added later gets the link, and a changed one replaces the queued message', async () => {
  const { india } = await setUp()
  const organisation = await createOrganisation(['whatsapp'])
  const { session } = await organisation.requestReview()
  assert.deepEqual(await organisation.listMessages(session), [])
  await expectOk(organisation.storeReviewer(session, { phone: PHONE }))
  await expectOk(organisation.storeReviewer(session, { phone: '+919812345679' }))
  await expectOk(organisation.storeReviewer(session, { phone: '+919812345679' }))
  await organisation.send()
  assert.deepEqual(
    india.sent.map(({ to }) => to),
    ['919812345679'],
  )
  assert.equal((await organisation.listEmails(session)).length, 1, 'the email is not sent again')
  await expectOk(organisation.storeReviewer(session, { phone: '+919812345670' }))
  assert.equal(
    outcomeOf(await organisation.storeReviewer(session, { phone: '+919812345671' })),
    '409 TOO_MANY_REVIEWERS',
  )
})

test('phone numbers that cannot be dialled, and the number of the student, are rejected at the field', async () => {
  const organisation = await createOrganisation(['whatsapp'])
  const session = await organisation.openPreparedSession('human', { student: { phone: '098765 43210' } })
  for (const [phone, message] of [
    ['9812345678', /must be in E\.164 format/],
    ['+91 98123 45678', /must be in E\.164 format/],
    ['+9109812345678', /must be without the 0 after \+91/],
    ['+911234', /can be dialled|E\.164/],
    ['+919876543210', /must not be the phone number of the student/],
  ] as const) {
    const { status, body } = await organisation.storeReviewer(session, { phone })
    assert.equal(status, 400, phone)
    assert.equal(body.error.code, 'VALIDATION_FAILED')
    assert.match(body.error.message, /^phone: /)
    assert.match(body.error.message, message)
    assert.doesNotMatch(body.error.message, /got /, 'the rejected number is not repeated')
  }
  assert.equal((await organisation.storeReviewer(session, { phone: '' })).status, 200)
  assert.equal((await organisation.storeReviewer(session, { phone: null })).status, 200)
})

test('one phone number is one reviewer of a source', async () => {
  const organisation = await createOrganisation(['whatsapp'])
  await organisation.requestReview({ reviewer: { phone: PHONE }, type: 'manager' })
  for (const type of ['manager', 'peer']) {
    const other = await organisation.openPreparedSession('human', { type, skills: ['sk_1016'] })
    assert.equal(
      outcomeOf(await organisation.storeReviewer(other, { email: 'other@metro.example', phone: PHONE })),
      '409 DUPLICATE_REVIEWER_EMAIL',
    )
  }
  const own = await organisation.openPreparedSession('human', { type: 'manager', skills: ['sk_1016'] })
  await expectOk(organisation.storeReviewer(own, { phone: PHONE }))
})

test('the evidence is weak if the student later uses the phone number of the reviewer', async () => {
  const organisation = await createOrganisation(['whatsapp'])
  const { session, token } = await organisation.requestReview({ reviewer: { phone: PHONE } })
  organisation.clock.advance(HOUR)
  await expectOk(organisation.submitReview(session, token, { decisions: [{ skillId: BRICKLAYING, endorsed: true }] }))
  const reasonsOf = async () =>
    (await organisation.getVerification(session)).reasons.map(({ code }: { code: string }) => code)
  assert.ok(!(await reasonsOf()).includes('reviewer_is_student'))
  await organisation.openSession({ phone: PHONE })
  assert.ok((await reasonsOf()).includes('reviewer_is_student'))
})

test('a TEST message reaches no phone, and the console shows its text', async () => {
  const { india } = await setUp()
  const organisation = await createOrganisation(['whatsapp'], { mode: 'test' })
  const { session, token } = await organisation.requestReview({ reviewer: { phone: PHONE } })
  await organisation.send()
  assert.equal(india.sent.length, 0)
  const { messages } = await organisation.getDetails(session)
  assert.equal(messages.length, 1)
  assert.equal(messages[0].state, 'delivered')
  assert.match(
    messages[0].text,
    /^Acme Staffing: Asha Rao asks you to confirm skills .*Reply STOP at any time to stop\.$/s,
  )
  assert.ok(messages[0].text.includes(token))
})

test('a message whose process ended before the call to the provider, or that met an error before it, is sent later', async () => {
  const { app, india } = await setUp()
  const { queries } = app.context.db
  const organisation = await createOrganisation(['whatsapp'])
  const { session } = await organisation.requestReview({ reviewer: { phone: PHONE } })
  const mailboxes = {
    ...app.context.mailboxes,
    hash(): never {
      throw new Error('not available')
    },
  }
  await sendReviewMessagesNow({ ...app.context, mailboxes })
  assert.deepEqual(await organisation.listMessages(session), ['review_request whatsapp queued'])
  await sql`update review_messages set state = 'sending', leased_until = ${new Date(app.clock.now() + 2 * MINUTE)}
    where verification_id = ${session.id}`.execute(queries)
  app.clock.advance(3 * MINUTE)
  await organisation.send()
  assert.equal(india.sent.length, 1)
  assert.deepEqual(await organisation.listMessages(session), ['review_request whatsapp sent'])
})

test('nothing is stored about the number of a reviewer who is erased while WhatsApp rejects the message', async () => {
  const { app, india } = await setUp()
  const organisation = await createOrganisation(['whatsapp', 'exotel'])
  const partner = await createPartner(app, 'live', organisation.orgId)
  const { session } = await organisation.requestReview({ reviewer: { phone: PHONE } })
  const { body } = await partner.get(`/people?phone=${encodeURIComponent(PHONE)}`)
  const { whatsapp } = app.context.channels
  app.context.channels.whatsapp = {
    ...whatsapp,
    async send(...parameters) {
      const erasure = { basis: 'request', requested_by: 'the person' }
      await expectOk(partner.post(`/people/${body.data.items[0].person_id}/erase`, erasure))
      return whatsapp.send(...parameters)
    },
  }
  india.nextResponses.push(cloudError(400, 131026))
  try {
    await organisation.send()
  } finally {
    app.context.channels.whatsapp = whatsapp
  }
  const { rows } = await sql`select state, phone_index, opt_out_index from review_messages
    where verification_id = ${session.id}`.execute(app.context.db.queries)
  assert.deepEqual(rows, [{ state: 'failed', phone_index: null, opt_out_index: null }])
})

test('STOP from a WhatsApp user without a number is stored for the number of the reviewer', async () => {
  const { app, india } = await setUp()
  for (const isReported of [true, false]) {
    const organisation = await createOrganisation(['whatsapp'])
    const { session } = await organisation.requestReview({ reviewer: { phone: PHONE } })
    await organisation.send()
    const { id, form } = india.sent[0]!
    const path = `/hooks/whatsapp/${organisation.channelIds.whatsapp}`
    const userId = 'IN.13491208655302741918'
    const report = {
      id: `wamid.${id}`,
      status: 'delivered',
      timestamp: '1',
      recipient_user_id: userId,
      biz_opaque_callback_data: form.biz_opaque_callback_data,
    }
    const stop = { from_user_id: userId, id: 'wamid.stop', timestamp: '1', type: 'text', text: { body: 'STOP' } }
    const webhooks = [cloudWebhook({ statuses: [report] }), cloudWebhook({ messages: [stop] })]
    for (const webhook of isReported ? webhooks : webhooks.reverse())
      assert.equal((await app.fetch(path, webhook)).status, 200)
    app.clock.advance(3 * DAY)
    await remindReviewers(app.context)
    const { messages } = await organisation.getDetails(session)
    assert.equal(messages[0].reason, 'the number has opted out of the messages of the organisation')

    const partner = await createPartner(app, 'live', organisation.orgId)
    const { body } = await partner.get(`/people?phone=${encodeURIComponent(PHONE)}`)
    const erasure = { basis: 'request', requested_by: 'the person' }
    await expectOk(partner.post(`/people/${body.data.items[0].person_id}/erase`, erasure))
    const { rows } = await sql`select 1 from whatsapp_users where org_id = ${organisation.orgId}`.execute(
      app.context.db.queries,
    )
    assert.deepEqual(rows, [])
  }
})

test('STOP in reply to a message to an earlier number of the reviewer is stored for that number', async () => {
  const { app, india } = await setUp()
  const organisation = await createOrganisation(['whatsapp'])
  const { session } = await organisation.requestReview({ reviewer: { phone: PHONE } })
  await organisation.send()
  await expectOk(organisation.storeReviewer(session, { phone: '+919812345679' }))
  const stop = {
    from_user_id: 'IN.13491208655302741919',
    id: 'wamid.stop',
    timestamp: '1',
    type: 'text',
    text: { body: 'STOP' },
    context: { id: await findProviderId(india.sent[0]!.form.biz_opaque_callback_data) },
  }
  const path = `/hooks/whatsapp/${organisation.channelIds.whatsapp}`
  assert.equal((await app.fetch(path, cloudWebhook({ messages: [stop] }))).status, 200)
  assert.deepEqual(await organisation.listMessages(session), [
    'review_request whatsapp queued',
    'review_request whatsapp sent',
  ])
  await expectOk(organisation.storeReviewer(session, { phone: PHONE }))
  const { messages } = await organisation.getDetails(session)
  assert.equal(messages[0].reason, 'the number has opted out of the messages of the organisation')

  async function findProviderId(messageId: string) {
    const { rows } = await sql<{ provider_id: string }>`
      select provider_id from review_messages where message_id = ${messageId}`.execute(app.context.db.queries)
    return rows[0]!.provider_id
  }
})

test('an SMS in place of a WhatsApp message counts for the daily limit of the number', async () => {
  const { india } = await setUp()
  const organisation = await createOrganisation(['whatsapp', 'exotel'])
  const sessions: TestSession[] = []
  for (let index = 0; index < 5; index++) {
    const { session } = await organisation.requestReview({
      student: { externalStudentId: `stu-${index}`, email: `student-${index}@example.com` },
      reviewer: { phone: '+919876500002' },
    })
    sessions.push(session)
  }
  india.nextResponses.push(...Array.from({ length: 5 }, () => cloudError(400, 131026)))
  await organisation.send()
  await organisation.send()
  const { messages } = await organisation.getDetails(sessions[0]!)
  assert.equal(messages[0].channel, 'sms')
  assert.equal(messages[0].reason, 'the daily limit of messages to this number is reached')
})

test('a reminder replaces a request that was being sent and is postponed', async () => {
  const { app } = await setUp()
  const organisation = await createOrganisation(['whatsapp'])
  const { session } = await organisation.requestReview({ reviewer: { phone: PHONE } })
  const setState = (state: string) =>
    sql`update review_messages set state = ${state} where verification_id = ${session.id} and kind = 'review_request'`.execute(
      app.context.db.queries,
    )
  await setState('sending')
  app.clock.advance(3 * DAY)
  await remindReviewers(app.context)
  await setState('queued')
  await organisation.send()
  assert.deepEqual(await organisation.listMessages(session), [
    'review_reminder whatsapp sent',
    'review_request whatsapp skipped',
  ])
})
