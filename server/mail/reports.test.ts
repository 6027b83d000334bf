import assert from 'node:assert/strict'
import { test } from 'node:test'
import PostalMime from 'postal-mime'
import { startApp, type TestApp } from '../../test/support/app.ts'
import { type Cleanup, oncePerFile } from '../../test/support/cleanup.ts'
import { aCandidate, createCampaignPartner, passTime } from '../../test/support/partners.ts'
import { startSmtp } from '../../test/support/smtp.ts'
import { until } from '../../test/support/until.ts'
import { outcomeOf, verificationCalls } from '../../test/support/verification.ts'
import { getEmail } from './mail.ts'

const HOOK_TOKEN = 'hook-token-of-the-tests'

interface BounceOptions {
  /** The ID of the bounced email. */
  id: string
  recipient: string
  status?: string
  action?: string
  diagnosis?: string
  /** Whether the report has the original envelope ID, the original headers, or the ID in its own address. */
  identifiedBy?: 'envelope' | 'headers' | 'address'
}

/** Returns a delivery status notification as Postfix writes it. */
function bounce(options: BounceOptions): string {
  const { id, recipient, status = '5.1.1', action = 'failed', identifiedBy = 'headers' } = options
  const { diagnosis = `550 ${status} <${recipient}>: Recipient address rejected: User unknown` } = options
  const to = identifiedBy === 'address' ? `bounces+${id.toLowerCase()}@example.org` : 'bounces@example.org'
  return [
    'From: MAILER-DAEMON@mx.example.org (Mail Delivery System)',
    `To: ${to}`,
    'Subject: Undelivered Mail Returned to Sender',
    'Auto-Submitted: auto-replied',
    'MIME-Version: 1.0',
    'Content-Type: multipart/report; report-type=delivery-status; boundary="B1/mx"',
    '',
    '--B1/mx',
    'Content-Description: Notification',
    'Content-Type: text/plain; charset=us-ascii',
    '',
    'This is the mail system at host mx.example.org.',
    '',
    '--B1/mx',
    'Content-Type: message/delivery-status',
    '',
    'Reporting-MTA: dns; mx.example.org',
    ...(identifiedBy === 'envelope' ? [`Original-Envelope-Id: ${id}`] : []),
    'Arrival-Date: Wed, 11 Mar 2026 06:30:00 +0000 (UTC)',
    '',
    `Final-Recipient: rfc822; ${recipient}`,
    `Original-Recipient: rfc822;${recipient}`,
    `Action: ${action}`,
    `Status: ${status}`,
    `Diagnostic-Code: smtp;`,
    `    ${diagnosis}`,
    '',
    '--B1/mx',
    'Content-Type: text/rfc822-headers',
    '',
    ...(identifiedBy === 'headers' ? [`Message-ID: <${id}@example.org>`] : []),
    `To: ${recipient}`,
    'Subject: A subject',
    '',
    '--B1/mx--',
    '',
  ].join('\r\n')
}

/** Returns a complaint in the abuse reporting format. */
function complaint(id: string, type = 'abuse'): string {
  return [
    'From: <feedback@mailprovider.example>',
    'To: <bounces@example.org>',
    'Subject: FW: A subject',
    'MIME-Version: 1.0',
    'Content-Type: multipart/report; report-type=feedback-report; boundary="part1"',
    '',
    '--part1',
    'Content-Type: text/plain; charset="US-ASCII"',
    '',
    'This is an email abuse report.',
    '',
    '--part1',
    'Content-Type: message/feedback-report',
    '',
    `Feedback-Type: ${type}`,
    'User-Agent: SomeGenerator/1.0',
    'Version: 1',
    '',
    '--part1',
    'Content-Type: message/rfc822',
    'Content-Disposition: inline',
    '',
    'From: <post@example.org>',
    `Message-ID: <${id}@example.org>`,
    'Subject: A subject',
    '',
    'Hello',
    '--part1--',
    '',
  ].join('\r\n')
}

const startShared = oncePerFile(async (t: Cleanup) =>
  startApp(t, {
    config: { mailHookToken: HOOK_TOKEN, mailLimits: { perRecipient: 1000, perOrganisation: 1000 } },
  }),
)

async function post(app: TestApp, body: string | FormData, path = `/hooks/mail/${HOOK_TOKEN}`) {
  return app.fetch(path, {
    method: 'POST',
    body,
    ...(typeof body === 'string' ? { headers: { 'content-type': 'message/rfc822' } } : {}),
  })
}

let addressCount = 0

/** Requests a review and returns the email and a function that tells whether its mailbox is suppressed. */
async function requestReview(app: TestApp) {
  const { orgId } = await app.fixtures.createOrg()
  const calls = verificationCalls(app, orgId, await app.fixtures.createSessionKey(orgId))
  const address = `reviewer-${addressCount++}@metro.example`
  const { session } = await calls.requestReview({ reviewer: { email: address } })
  const [email] = await calls.listEmails(session)
  const readEmail = () => getEmail(app.context.db.queries, app.context.vault, email!.mail_id)
  const isSuppressed = async () => {
    const nextSession = await calls.openPreparedSession('human', {
      student: { externalStudentId: `s-${Math.random()}` },
    })
    return outcomeOf(await calls.storeReviewer(nextSession, { email: address })) === '409 REVIEWER_UNREACHABLE'
  }
  return { id: email!.mail_id, text: email!.text, address, readEmail, isSuppressed }
}

test('a bounce is found by envelope ID, headers or address, and suppresses an unknown mailbox', async () => {
  const app = await startShared()
  for (const identifiedBy of ['envelope', 'headers', 'address'] as const) {
    const { id, address, readEmail, isSuppressed } = await requestReview(app)
    for (let i = 0; i < 2; i++) {
      const response = await post(app, bounce({ id, recipient: address, identifiedBy }))
      assert.deepEqual([response.status, response.body], [200, { success: true, result: 'bounce' }], identifiedBy)
    }
    const email = await readEmail()
    assert.equal(email.status, 'bounced')
    assert.match(email.last_error!, /^5\.1\.1 550 5\.1\.1 .*User unknown/)
    assert.ok(await isSuppressed(), identifiedBy)
  }
})

test('a full mailbox, a rejected content and a forwarded address do not suppress the mailbox', async () => {
  const app = await startShared()
  for (const changes of [
    { status: '5.2.2', diagnosis: '552 5.2.2 mailbox full' },
    { status: '5.7.1', diagnosis: '550 5.7.1 message rejected: user unknown to be safe' },
    { recipient: 'forwarded@other.example' },
  ]) {
    const { id, address, readEmail, isSuppressed } = await requestReview(app)
    await post(app, bounce({ id, recipient: address, ...changes }))
    assert.equal((await readEmail()).status, 'bounced')
    assert.ok(!(await isSuppressed()), JSON.stringify(changes))
  }
})

test('a complaint suppresses the mailbox; delays, other feedback and other emails change nothing', async () => {
  const app = await startShared()
  const complained = await requestReview(app)
  assert.equal((await post(app, complaint(complained.id))).body.result, 'complaint')
  assert.equal((await complained.readEmail()).status_reason, 'complained')
  assert.ok(await complained.isSuppressed())

  const { id, address, readEmail, isSuppressed } = await requestReview(app)
  const unknownId = `${id.slice(0, -4)}ZZZZ`
  for (const raw of [
    bounce({ id, recipient: address, action: 'delayed', status: '4.4.1' }),
    complaint(id, 'not-spam'),
    bounce({ id: unknownId, recipient: address }),
    `From: a@b.example\r\nSubject: Re: hello\r\nIn-Reply-To: <${id}@example.org>\r\n\r\nHello`,
    'no email at all',
    '',
  ])
    assert.deepEqual((await post(app, raw)).body, { success: true, result: 'ignored' })
  assert.equal((await readEmail()).status, 'queued')
  assert.ok(!(await isSuppressed()))
})

test('an email with the subject of the mailto link unsubscribes, also if a gateway sends a form', async () => {
  const app = await startShared()
  const { text, isSuppressed } = await requestReview(app)
  const token = /\/unsubscribe\/([\w-]+)/.exec(text)![1]
  const form = new FormData()
  form.set('recipient', 'bounces@example.org')
  form.set('body-mime', `From: x@y.example\r\nSubject: unsubscribe ${token}\r\n\r\n`)
  assert.deepEqual((await post(app, form)).body, { success: true, result: 'unsubscribe' })
  assert.ok(await isSuppressed())

  const emptyForm = new FormData()
  emptyForm.set('subject', 'x')
  assert.equal((await post(app, emptyForm)).status, 400)
})

test('reports require the token', async (t) => {
  const app = await startShared()
  const { id, address, readEmail } = await requestReview(app)
  const raw = bounce({ id, recipient: address })
  for (const token of ['wrong-token-of-the-tests', 'undefined', HOOK_TOKEN.slice(0, -1)])
    assert.equal((await post(app, raw, `/hooks/mail/${token}`)).status, 404)
  assert.equal((await readEmail()).status, 'queued')
  const appWithoutToken = await startApp(t)
  for (const token of ['undefined', HOOK_TOKEN])
    assert.equal((await post(appWithoutToken, raw, `/hooks/mail/${token}`)).status, 404)
})

test('a bounce ends the contact of a candidate by email, and a complaint opts the candidate out', async (t) => {
  const smtp = await startSmtp()
  const app = await startApp(t, {
    config: { mailHookToken: HOOK_TOKEN, smtpUrl: smtp.url, mailBounce: 'bounces@example.org' },
  })
  t.after(smtp.stop)
  const partner = await createCampaignPartner(app, { mode: 'live' })
  const { mandate_id } = await partner.createMandate({ channels: ['email'] })
  await partner.createCampaign(
    mandate_id,
    [1, 2].map((number) => aCandidate(number, { phone: undefined, email: `person-${number}@example.com` })),
  )
  await passTime(app, 1000)
  const { rows } = await app.context.db.pool.query(
    `select m.message_id from messages m join candidates c using (candidate_id) order by c.external_candidate_id`,
  )
  assert.equal(
    (await post(app, bounce({ id: rows[0].message_id, recipient: 'person-1@example.com' }))).body.result,
    'bounce',
  )
  assert.equal((await post(app, complaint(rows[1].message_id))).body.result, 'complaint')
  await passTime(app, 1000)

  const results = (await partner.get('/results')).body.data.items
  assert.deepEqual(
    results.map(({ candidate, status, reason }: any) => [candidate.external_candidate_id, status, reason]).sort(),
    [
      ['ext-1', 'failed', 'unreachable'],
      ['ext-2', 'declined', 'stopped'],
    ],
  )
})

test('the mail server is asked for failure reports, and a rejection of an unknown mailbox suppresses it', async (t) => {
  const envelopes: { sender: string; recipient: string; dsn: unknown }[] = []
  const smtp = await startSmtp({
    hideDSN: false,
    onRcptTo({ address }, session, done) {
      const sender = (session.envelope.mailFrom as { address: string }).address
      const { dsn } = session.envelope as { dsn?: { ret: string; envid: string } }
      envelopes.push({ sender, recipient: address, dsn: dsn && { ret: dsn.ret, envid: dsn.envid } })
      const reject = (text: string) => done(Object.assign(new Error(text), { responseCode: 550 }))
      if (address.startsWith('unknown')) return reject('5.1.1 no such user')
      if (address.startsWith('blocked')) return reject('5.7.1 blocked by policy')
      done()
    },
  })
  const app = await startApp(t, { worker: true, config: { smtpUrl: smtp.url, mailBounce: 'bounces@example.org' } })
  t.after(smtp.stop)
  const { orgId } = await app.fixtures.createOrg()
  const calls = verificationCalls(app, orgId, await app.fixtures.createSessionKey(orgId))
  const outcomes: Record<string, [status: string, isSuppressed: boolean]> = {}
  for (const name of ['unknown', 'blocked', 'good']) {
    const email = `${name}@metro.example`
    const { session } = await calls.requestReview({ student: { externalStudentId: name }, reviewer: { email } })
    const [stored] = await until(async () => {
      const emails = await calls.listEmails(session)
      return emails[0]!.status !== 'queued' && emails
    })
    const nextSession = await calls.openPreparedSession('human', { student: { externalStudentId: `${name}-2` } })
    const isSuppressed = (await calls.storeReviewer(nextSession, { email })).status === 409
    outcomes[name] = [stored!.status, isSuppressed]
    const { mail_id } = stored!
    assert.deepEqual(
      envelopes.find(({ recipient }) => recipient === email),
      { sender: `bounces+${mail_id}@example.org`, recipient: email, dsn: { ret: 'HDRS', envid: mail_id } },
    )
  }
  assert.deepEqual(outcomes, { unknown: ['failed', true], blocked: ['failed', false], good: ['sent', false] })
  const received = await PostalMime.parse(smtp.received[0]!)
  assert.equal(received.from?.address, 'no-reply@localhost')
})
