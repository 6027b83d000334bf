import assert from 'node:assert/strict'
import { test } from 'node:test'
import { ADMIN_KEY, startApp, type TestApp } from '../../../test/support/app.ts'
import { oncePerFile } from '../../../test/support/cleanup.ts'
import {
  CONSOLE_API,
  createTestSignInLink,
  OPERATOR_EMAIL,
  signIn,
  signInMember,
} from '../../../test/support/console.ts'
import { until } from '../../../test/support/until.ts'
import { getEmail, listEmails } from '../../mail/mail.ts'
import { DAY, HOUR, MINUTE } from '../../platform/clock.ts'
import type { Job } from '../../platform/jobs/queue.ts'
import { consoleJobs } from '../jobs.ts'
import { addMember, changeMemberEmail } from './members.ts'
import { sendSignInLink } from './sign-in-emails.ts'
import { createSignInLink } from './sign-in-links.ts'

const startSharedApp = oncePerFile((t) => startApp(t, { worker: true, config: { trustProxy: ['127.0.0.1'] } }))

/** Returns the shared server an hour later, when all rate limits have been reset. */
async function startWithResetLimits(): Promise<TestApp> {
  const app = await startSharedApp()
  app.clock.advance(HOUR)
  return app
}

function post(app: TestApp, path: string, body: object, headers: Record<string, string> = {}) {
  return app.fetch(CONSOLE_API + path, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...headers },
    body: JSON.stringify(body),
  })
}

const sessionCookieOf = (response: { headers: Headers }) => response.headers.get('set-cookie')?.split(';')[0] ?? ''
const tokenOf = (link: string) => link.split('#token=')[1]!

/** Signs an operator in with a new link. */
async function signInWithLink(app: TestApp, headers: Record<string, string> = {}) {
  return post(app, '/sign-in/link', { token: tokenOf(await createTestSignInLink(app)) }, headers)
}

test('an operator signs in with a link as a named person, and the admin key does not open the console', async () => {
  const app = await startWithResetLimits()
  for (const [path, body] of [
    ['/sign-in/operator', { admin_key: ADMIN_KEY }],
    ['/sign-in/link', { token: ADMIN_KEY }],
  ] as const) {
    const rejectedResponse = await post(app, path, body)
    assert.ok([401, 404].includes(rejectedResponse.status), path)
    assert.equal(rejectedResponse.headers.get('set-cookie'), null)
  }
  const keyHeaders = { 'x-api-key': ADMIN_KEY, authorization: `Bearer ${ADMIN_KEY}` }
  assert.equal((await app.fetch(`${CONSOLE_API}/operator/orgs`, { headers: keyHeaders })).status, 401)
  assert.equal((await app.fetch('/api/admin/counts', { headers: keyHeaders })).status, 200)

  const { orgId } = await app.fixtures.createOrg()
  const response = await signInWithLink(app)
  assert.equal(response.status, 200)
  assert.deepEqual([response.body.data.kind, response.body.data.email], ['operator', OPERATOR_EMAIL])
  const [newestOrganisation] = response.body.data.organisations
  assert.deepEqual([newestOrganisation.org_id, newestOrganisation.role], [orgId, 'operator'])
  const session = await app.fetch(`${CONSOLE_API}/session`, { headers: { cookie: sessionCookieOf(response) } })
  assert.equal(session.body.data.csrf, response.body.data.csrf)
  const { rows } = await app.context.db.pool.query('select * from console_sessions')
  assert.ok(
    rows.length > 0 && !JSON.stringify(rows).includes(sessionCookieOf(response).split('=')[1]!),
    'the token is not in the database',
  )
})

test('the session cookie is HttpOnly and SameSite, and has the __Host- prefix over HTTPS', async () => {
  const app = await startWithResetLimits()
  const httpResponse = await signInWithLink(app)
  const cookieFlags = (response: { headers: Headers }) => response.headers.get('set-cookie')!.split('; ').slice(1)
  assert.match(sessionCookieOf(httpResponse), /^attestry=[\w-]{43}$/)
  assert.deepEqual(cookieFlags(httpResponse), ['Path=/', 'HttpOnly', 'SameSite=Strict', 'Max-Age=604800'])
  const httpsHeaders = { 'x-forwarded-proto': 'https' }
  const httpsResponse = await signInWithLink(app, httpsHeaders)
  assert.match(sessionCookieOf(httpsResponse), /^__Host-attestry=[\w-]{43}$/)
  assert.ok(cookieFlags(httpsResponse).includes('Secure'))
  // A cookie without the prefix may have been set by a sibling domain, so it is ignored over HTTPS.
  const getSession = (cookie: string) => app.fetch(`${CONSOLE_API}/session`, { headers: { ...httpsHeaders, cookie } })
  assert.equal((await getSession(sessionCookieOf(httpResponse))).status, 401)
  assert.equal((await getSession(sessionCookieOf(httpsResponse))).status, 200)
})

test('the console rejects plain HTTP if HTTPS is required', async () => {
  const app = await startWithResetLimits()
  app.context.config.requireHttps = true
  const response = await signInWithLink(app)
  const httpsResponse = await signInWithLink(app, { 'x-forwarded-proto': 'https' })
  app.context.config.requireHttps = false
  assert.equal(response.status, 403)
  assert.equal(response.body.error.code, 'HTTPS_REQUIRED')
  assert.equal(httpsResponse.status, 200)
})

test('a sign-in link works once and expires', async () => {
  const app = await startWithResetLimits()
  const token = tokenOf(await createTestSignInLink(app))
  const responses = await Promise.all([post(app, '/sign-in/link', { token }), post(app, '/sign-in/link', { token })])
  assert.deepEqual(responses.map(({ status }) => status).sort(), [200, 401])
  const expiredToken = tokenOf(await createTestSignInLink(app))
  app.clock.advance(HOUR)
  assert.equal((await post(app, '/sign-in/link', { token: expiredToken })).status, 401)
  assert.equal((await post(app, '/sign-in/link', { token: 'unknown' })).status, 401)
})

test('a member signs in by email, and the response does not reveal who is a member', async () => {
  const app = await startWithResetLimits()
  const { context } = app
  const { orgId } = await app.fixtures.createOrg()
  const email = 'Asha@Example.com'
  await context.db.transaction((tx) => addMember(tx, app.clock, orgId, { email, role: 'recruiter' }))

  const earlierEmailIds = new Set((await listEmails(context.db.queries, { limit: 100 })).map(({ mail_id }) => mail_id))
  const newEmails = async () =>
    (await listEmails(context.db.queries, { limit: 100 })).filter(({ mail_id }) => !earlierEmailIds.has(mail_id))
  const memberResponse = await post(app, '/sign-in/mail', { email: 'asha@example.com' })
  const strangerResponse = await post(app, '/sign-in/mail', { email: 'unknown@example.com' })
  assert.deepEqual([memberResponse.status, memberResponse.body], [strangerResponse.status, strangerResponse.body])
  await until(async () => (await newEmails()).length > 0)
  const countJobsQuery = `select count(*)::int as count from pgboss.job where name = 'mail-sign-in-link' and state <> 'completed'`
  await until(async () => (await context.db.pool.query(countJobsQuery)).rows[0].count === 0)
  const emails = await newEmails()
  assert.deepEqual(
    emails.map(({ kind, to_address }) => [kind, to_address]),
    [['sign_in', email]], // the stored spelling, not the submitted one
  )
  const { text } = await getEmail(context.db.queries, context.vault, emails[0]!.mail_id)
  const token = /#token=([\w-]+)/.exec(text)![1]!
  const response = await post(app, '/sign-in/link', { token })
  assert.equal(response.body.data.kind, 'person')
  assert.deepEqual(
    response.body.data.organisations.map((org: any) => [org.org_id, org.role]),
    [[orgId, 'recruiter']],
  )

  const secondToken = await context.db.transaction((tx) => createSignInLink(tx, app.clock, email))
  app.clock.advance(15 * MINUTE)
  assert.equal((await post(app, '/sign-in/link', { token: secondToken })).status, 401, 'after 15 minutes')
})

test('an invitation signs the member in once within seven days, and only the newest one works', async () => {
  const app = await startWithResetLimits()
  const { orgId } = await app.fixtures.createOrg()
  const owner = await signInMember(app, orgId, 'owner')
  const open = async (token: string) => (await post(app, '/sign-in/link', { token })).status
  const invite = async (email: string) => {
    const { body } = await owner.post(`/orgs/${orgId}/members`, { email, role: 'viewer' })
    return {
      path: `/orgs/${orgId}/members/${body.data.member_id}`,
      token: await readInvitationToken(app, orgId, email),
    }
  }

  const meera = await invite('meera@invited.example')
  app.clock.advance(10 * MINUTE)
  assert.equal((await owner.post(`${meera.path}/invite`)).status, 200)
  const newerToken = await readInvitationToken(app, orgId, 'meera@invited.example')
  assert.equal(await open(meera.token), 401, 'replaced by a newer invitation')
  assert.deepEqual([await open(newerToken), await open(newerToken)], [200, 401], 'works once')
  const { rows } = await app.context.db.pool.query('select * from console_links where member_id is not null')
  assert.ok(rows.length > 0 && !JSON.stringify(rows).includes(newerToken), 'only the hash of the token is stored')

  const removed = await invite('removed@invited.example')
  assert.equal((await owner.delete(removed.path)).status, 200)
  await app.context.db.transaction((tx) =>
    addMember(tx, app.clock, orgId, { email: 'removed@invited.example', role: 'viewer' }),
  )
  assert.equal(await open(removed.token), 401, 'ended with the membership, also if the person is added again')

  const renamed = await invite('renamed@invited.example')
  await app.context.db.transaction((tx) =>
    changeMemberEmail(tx, orgId, 'renamed@invited.example', 'other@invited.example'),
  )
  assert.equal(await open(renamed.token), 401, 'ended with the address')

  const early = await invite('early@invited.example')
  const late = await invite('late@invited.example')
  app.clock.advance(7 * DAY - MINUTE)
  assert.equal(await open(early.token), 200)
  app.clock.advance(MINUTE)
  assert.equal(await open(late.token), 401)
})

/** Returns the token in the newest invitation to an address. */
async function readInvitationToken(app: TestApp, orgId: string, address: string): Promise<string> {
  const emails = await listEmails(app.context.db.queries, { kind: 'invitation', limit: 10 })
  const { mail_id } = emails.find(({ to_address }) => to_address === address)!
  const { text } = await getEmail(app.context.db.queries, app.context.vault, mail_id)
  return new RegExp(`/console/sign-in\\?invitation=${orgId}#token=([\\w-]{43})\\s`).exec(text)![1]!
}

test('a sign-in link is sent to the stored address, not to a different one with the same lower-case form', async () => {
  const app = await startWithResetLimits()
  const { context } = app
  const { orgId } = await app.fixtures.createOrg()
  const email = 'kevin@corp.example'
  await context.db.transaction((tx) => addMember(tx, app.clock, orgId, { email, role: 'owner' }))

  await context.db.transaction((tx) => sendSignInLink(tx, context, { email: '\u212Aevin@corp.example' })) // KELVIN SIGN, which lowercases to k

  const [message] = await listEmails(context.db.queries, { limit: 1 })
  assert.equal(message!.to_address, email)
})

test('sign-in attempts are rate limited, with retry-after', async () => {
  const app = await startWithResetLimits()
  const statuses: number[] = []
  for (let n = 0; n < 21; n++) statuses.push((await post(app, '/sign-in/link', { token: `guess ${n}` })).status)
  assert.deepEqual(statuses, [...Array(20).fill(401), 429])
  const validLinkResponse = await signInWithLink(app)
  assert.equal(validLinkResponse.status, 429, 'a valid link is rejected too')
  assert.ok(Number(validLinkResponse.headers.get('retry-after')) > 0)
  assert.equal(validLinkResponse.body.error.message, 'Too many sign-in attempts. Try again in 5 minutes.')
  app.clock.advance(5 * MINUTE)
  assert.equal((await signInWithLink(app)).status, 200)

  const emailStatuses: number[] = []
  for (let n = 0; n < 4; n++) emailStatuses.push((await post(app, '/sign-in/mail', { email: 'a@example.com' })).status)
  assert.deepEqual(emailStatuses, [202, 202, 202, 429], 'to one email address')
  for (let n = 0; n < 7; n++)
    emailStatuses.push((await post(app, '/sign-in/mail', { email: `a${n}@example.com` })).status)
  assert.equal(emailStatuses.at(-1), 429, 'from one IP address')
})

test('signing in creates a new session and ends the previous one', async () => {
  const app = await startWithResetLimits()
  const firstCookie = sessionCookieOf(await signInWithLink(app))
  const secondCookie = sessionCookieOf(await signInWithLink(app, { cookie: firstCookie }))
  const sessionStatus = async (cookie: string) =>
    (await app.fetch(`${CONSOLE_API}/session`, { headers: { cookie } })).status
  assert.notEqual(firstCookie, secondCookie)
  assert.deepEqual([await sessionStatus(firstCookie), await sessionStatus(secondCookie)], [401, 200])
  // A token chosen by an attacker is not adopted.
  const attackerCookie = `attestry=${'B'.repeat(43)}`
  await signInWithLink(app, { cookie: attackerCookie })
  assert.equal(await sessionStatus(attackerCookie), 401)
})

test('sessions end on sign-out, sign-out everywhere, inactivity and maximum age', async () => {
  const app = await startWithResetLimits()
  const { orgId } = await app.fixtures.createOrg()
  const laptopSession = await signInMember(app, orgId, 'viewer', 'a@example.com')
  const phoneSession = await signIn(app, 'A@example.com')
  const otherMember = await signInMember(app, orgId, 'viewer', 'b@example.com')
  const sessionStatus = async (user: typeof laptopSession) => (await user.get('/session')).status

  const thirdSession = await signIn(app, 'a@example.com')
  const signOutResponse = await thirdSession.post('/sign-out')
  assert.match(signOutResponse.headers.get('set-cookie')!, /^attestry=; .*Max-Age=0/)
  assert.deepEqual([await sessionStatus(thirdSession), await sessionStatus(laptopSession)], [401, 200])
  assert.equal((await phoneSession.post('/sign-out/everywhere')).status, 200)
  assert.deepEqual(
    [await sessionStatus(laptopSession), await sessionStatus(phoneSession), await sessionStatus(otherMember)],
    [401, 401, 200],
  )

  const idleSession = await signIn(app, 'b@example.com')
  app.clock.advance(12 * HOUR)
  assert.equal(await sessionStatus(idleSession), 401)
  const activeSession = await signIn(app, 'b@example.com')
  for (let hours = 0; hours < 7 * 24 - 6; hours += 6) {
    app.clock.advance(6 * HOUR)
    assert.equal(await sessionStatus(activeSession), 200, `after ${hours + 6} hours`)
  }
  app.clock.advance(6 * HOUR)
  assert.equal(await sessionStatus(activeSession), 401, 'after seven days')
})

test('a console session is limited to twenty requests per second', async () => {
  const app = await startWithResetLimits()
  const operator = await signIn(app)
  const responses = await Promise.all(Array.from({ length: 45 }, () => operator.get('/session')))
  const rejectedResponses = responses.filter(({ status }) => status === 429)
  assert.equal(rejectedResponses.length, 45 - 39) // a burst of 40 requests, one of which was sent by `signIn`
  assert.equal(rejectedResponses[0]!.headers.get('retry-after'), '1')
})

test('expired sign-in links and sessions are deleted, and valid ones are kept', async () => {
  const app = await startWithResetLimits()
  const { context, clock } = app
  const { db, queue } = context
  const countRows = async (table: 'console_links' | 'console_sessions') =>
    (await db.queries.selectFrom(table).select('created_at').execute()).length
  await signInWithLink(app)
  await createTestSignInLink(app)
  clock.advance(12 * HOUR)
  await createTestSignInLink(app)
  await signInWithLink(app)
  assert.ok((await countRows('console_links')) > 2 && (await countRows('console_sessions')) > 1)
  const cleanUp = consoleJobs.find(({ name }) => name === 'tidy-console') as Job<Record<string, never>>
  await db.transaction((tx) => queue.enqueue(tx, cleanUp, {}))
  // The link that the last sign-in used has not expired yet.
  await until(async () => (await countRows('console_links')) === 2)
  assert.equal(await countRows('console_sessions'), 1)
})
