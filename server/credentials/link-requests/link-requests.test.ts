import assert from 'node:assert/strict'
import { test } from 'node:test'
import { holderCalls, issueCredential } from '../../../test/support/issued-credentials.ts'
import { startVerification, verificationCalls } from '../../../test/support/verification.ts'
import { getEmail } from '../../mail/mail.ts'
import { HOUR } from '../../platform/clock.ts'
import { sendHolderLinks } from './link-requests.ts'

type Calls = Awaited<ReturnType<typeof startVerification>>

function requestLinks({ app }: Calls, email: unknown, language?: string) {
  return app.fetch('/credentials/links', {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ email, ...(language ? { language } : {}) }),
  })
}

/** Runs the jobs of the stored requests, each twice, as after a crash. Returns how many requests there were. */
async function runRequests({ app: { context } }: Calls): Promise<number> {
  const requests = await context.db.queries.selectFrom('credential_link_requests').select('request_id').execute()
  for (const { request_id: id } of [...requests, ...requests]) await sendHolderLinks(context, id)
  return requests.length
}

async function emailsAbout({ app: { context } }: Calls, text: string) {
  const emails = await context.db.queries.selectFrom('mails').select('mail_id').orderBy('mail_id').execute()
  const contents = await Promise.all(emails.map(({ mail_id }) => getEmail(context.db.queries, context.vault, mail_id)))
  return contents.filter(({ subject }) => subject.includes(text))
}

test('a person who lost the link gets a new one by email, one for each organisation', async (t) => {
  const calls = await startVerification(t)
  const { app } = calls
  await issueCredential(calls)
  const other = await app.fixtures.createOrg('Second College')
  const otherCalls = verificationCalls(app, other.orgId, await app.fixtures.createSessionKey(other.orgId))
  await issueCredential(otherCalls)

  const response = await requestLinks(calls, ' ASHA+x@example.com ', 'hi')
  assert.deepEqual([response.status, response.body], [202, { success: true, data: {} }])
  assert.equal(await runRequests(calls), 1)

  const emails = await emailsAbout(calls, '· Second College')
  assert.equal(emails.length, 1, 'a retry sends nothing twice')
  assert.equal(emails[0]!.to_address, 'ASHA+x@example.com')
  assert.match(emails[0]!.html, /lang="hi"/)
  const token = /#token=(\S+)/.exec(emails[0]!.text)![1]!
  const view = await holderCalls(app, token).view()
  assert.equal(view.body.data.organisation, 'Second College')
  assert.equal((await emailsAbout(calls, '· Acme Staffing')).length, 1)
})

test('the response does not show whether an address has credentials, and the number of emails is limited', async (t) => {
  const calls = await startVerification(t)
  const { clock } = calls.app
  const { holderToken, id } = await issueCredential(calls)
  const known = await requestLinks(calls, 'asha@example.com')
  const unknown = await requestLinks(calls, 'nobody@example.com')
  assert.deepEqual([known.status, known.body], [unknown.status, unknown.body])
  assert.equal(await runRequests(calls), 2)
  assert.equal((await emailsAbout(calls, '· Acme Staffing')).length, 1)

  for (let count = 0; count < 4; count++) assert.equal((await requestLinks(calls, 'asha@example.com')).status, 202)
  assert.equal(await runRequests(calls), 2, 'three per hour and mailbox')
  for (const email of ['no address', 'a', 5, '']) assert.equal((await requestLinks(calls, email)).status, 400)
  assert.equal((await requestLinks(calls, 'other@example.com')).status, 429)

  clock.advance(HOUR - 1)
  await requestLinks(calls, 'asha@example.com')
  assert.equal(await runRequests(calls), 0, 'the hour has not passed')
  clock.advance(1)
  await requestLinks(calls, 'asha@example.com')
  assert.equal(await runRequests(calls), 1)
  assert.equal((await emailsAbout(calls, '· Acme Staffing')).length, 4)

  await holderCalls(calls.app, holderToken).change({ credentials: [{ credential_id: id, revoke: true }] })
  await requestLinks(calls, 'asha@example.com')
  await runRequests(calls)
  assert.equal((await emailsAbout(calls, '· Acme Staffing')).length, 4, 'nothing is left to manage')
})
