import assert from 'node:assert/strict'
import { after, type TestContext, test } from 'node:test'
import { ADMIN_KEY, startApp, type TestApp } from '../../../test/support/app.ts'
import { CONSOLE, memberOf, signIn, signInLink } from '../../../test/support/console.ts'
import { until } from '../../../test/support/until.ts'
import { getMail, listMails } from '../../mail/mail.ts'
import { HOUR, MINUTE } from '../../platform/clock.ts'
import { addMember } from './members.ts'
import { sendSignInLink } from './sign-in-emails.ts'
import { makeLink } from './sign-in-links.ts'

const shared = await startApp({ after } as unknown as TestContext, {
  worker: true,
  config: { trustProxy: ['127.0.0.1'] },
})

/** One server for all tests here; each finds limits that have room again. */
function nextHour(): TestApp {
  shared.clock.advance(HOUR)
  return shared
}

function post(app: TestApp, path: string, body: object, headers: Record<string, string> = {}) {
  return app.fetch(CONSOLE + path, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...headers },
    body: JSON.stringify(body),
  })
}

const cookieOf = (answer: { headers: Headers }) => answer.headers.get('set-cookie')?.split(';')[0] ?? ''
const tokenOf = (link: string) => link.split('#token=')[1]!

test('the operator signs in with the admin key', async () => {
  const app = nextHour()
  const refused = await post(app, '/sign-in/operator', { admin_key: 'not the key' })
  assert.equal(refused.status, 401)
  assert.equal(refused.headers.get('set-cookie'), null)
  const { orgId } = await app.given.org()
  const answer = await post(app, '/sign-in/operator', { admin_key: ADMIN_KEY })
  assert.equal(answer.status, 200)
  assert.equal(answer.body.data.kind, 'operator')
  const [newest] = answer.body.data.organisations
  assert.deepEqual([newest.org_id, newest.role], [orgId, 'operator'])
  const session = await app.fetch(`${CONSOLE}/session`, { headers: { cookie: cookieOf(answer) } })
  assert.equal(session.body.data.csrf, answer.body.data.csrf)
  const { rows } = await app.context.db.pool.query('select * from console_sessions')
  assert.ok(
    rows.length > 0 && !JSON.stringify(rows).includes(cookieOf(answer).split('=')[1]!),
    'the token is nowhere in the database',
  )
})

test('cookies: out of reach for scripts and other sites, and over HTTPS bound to the host', async () => {
  const app = nextHour()
  const plain = await post(app, '/sign-in/operator', { admin_key: ADMIN_KEY })
  const flags = (answer: { headers: Headers }) => answer.headers.get('set-cookie')!.split('; ').slice(1)
  assert.match(cookieOf(plain), /^attestry=[\w-]{43}$/)
  assert.deepEqual(flags(plain), ['Path=/', 'HttpOnly', 'SameSite=Strict', 'Max-Age=604800'])
  const https = { 'x-forwarded-proto': 'https' }
  const secure = await post(app, '/sign-in/operator', { admin_key: ADMIN_KEY }, https)
  assert.match(cookieOf(secure), /^__Host-attestry=[\w-]{43}$/)
  assert.ok(flags(secure).includes('Secure'))
  // A cookie without the prefix may have been set by a neighbouring host: over HTTPS it counts for nothing.
  const session = (cookie: string) => app.fetch(`${CONSOLE}/session`, { headers: { ...https, cookie } })
  assert.equal((await session(cookieOf(plain))).status, 401)
  assert.equal((await session(cookieOf(secure))).status, 200)
})

test('where HTTPS is required, the console is served over HTTPS only', async () => {
  const app = nextHour()
  app.context.config.requireHttps = true
  const answer = await post(app, '/sign-in/operator', { admin_key: ADMIN_KEY })
  const secure = await post(app, '/sign-in/operator', { admin_key: ADMIN_KEY }, { 'x-forwarded-proto': 'https' })
  app.context.config.requireHttps = false
  assert.equal(answer.status, 403)
  assert.equal(answer.body.error.code, 'HTTPS_REQUIRED')
  assert.equal(secure.status, 200)
})

test('a link signs in once, and not for long', async () => {
  const app = nextHour()
  const token = tokenOf(await signInLink(app))
  const both = await Promise.all([post(app, '/sign-in/link', { token }), post(app, '/sign-in/link', { token })])
  assert.deepEqual(both.map(({ status }) => status).sort(), [200, 401])
  const late = tokenOf(await signInLink(app))
  app.clock.advance(HOUR)
  assert.equal((await post(app, '/sign-in/link', { token: late })).status, 401)
  assert.equal((await post(app, '/sign-in/link', { token: 'made up' })).status, 401)
})

test('a person signs in by mail; the answer does not tell who is known', async () => {
  const app = nextHour()
  const { context } = app
  const { orgId } = await app.given.org()
  const email = 'Asha@Example.com'
  await context.db.transaction((tx) => addMember(tx, app.clock, orgId, { email, role: 'recruiter' }))

  const known = await post(app, '/sign-in/mail', { email: 'asha@example.com' })
  const unknown = await post(app, '/sign-in/mail', { email: 'nobody@example.com' })
  assert.deepEqual([known.status, known.body], [unknown.status, unknown.body])
  await until(async () => (await listMails(context.db.queries, { limit: 10 })).length > 0)
  const jobs = `select count(*)::int as count from pgboss.job where name = 'mail-sign-in-link' and state <> 'completed'`
  await until(async () => (await context.db.pool.query(jobs)).rows[0].count === 0)
  const mails = await listMails(context.db.queries, { limit: 10 })
  assert.deepEqual(
    mails.map(({ kind, to_address }) => [kind, to_address]),
    [['sign_in', email]], // as it is known here, not as it was typed
  )
  const { text } = await getMail(context.db.queries, context.vault, mails[0]!.mail_id)
  const token = /#token=([\w-]+)/.exec(text)![1]!
  const answer = await post(app, '/sign-in/link', { token })
  assert.equal(answer.body.data.kind, 'person')
  assert.deepEqual(
    answer.body.data.organisations.map((org: any) => [org.org_id, org.role]),
    [[orgId, 'recruiter']],
  )

  const second = await context.db.transaction((tx) => makeLink(tx, app.clock, email))
  app.clock.advance(15 * MINUTE)
  assert.equal((await post(app, '/sign-in/link', { token: second })).status, 401, 'after 15 minutes')
})

test('an address that only folds to a known one leads nobody in', async () => {
  const app = nextHour()
  const { context } = app
  const { orgId } = await app.given.org()
  const email = 'kevin@corp.example'
  await context.db.transaction((tx) => addMember(tx, app.clock, orgId, { email, role: 'owner' }))

  await context.db.transaction((tx) => sendSignInLink(tx, context, '\u212Aevin@corp.example')) // the sign for kelvin

  const [mail] = await listMails(context.db.queries, { limit: 1 })
  assert.equal(mail!.to_address, email)
})

test('attempts are limited, each with the time to wait', async () => {
  const app = nextHour()
  const statuses: number[] = []
  for (let n = 0; n < 21; n++) statuses.push((await post(app, '/sign-in/operator', { admin_key: `guess ${n}` })).status)
  assert.deepEqual(statuses, [...Array(20).fill(401), 429])
  const right = await post(app, '/sign-in/operator', { admin_key: ADMIN_KEY })
  assert.equal(right.status, 429, 'the right key is not tried either')
  assert.ok(Number(right.headers.get('retry-after')) > 0)
  assert.equal((await post(app, '/sign-in/link', { token: 'guess' })).status, 429)
  app.clock.advance(5 * MINUTE)
  assert.equal((await post(app, '/sign-in/operator', { admin_key: ADMIN_KEY })).status, 200)

  const mails: number[] = []
  for (let n = 0; n < 4; n++) mails.push((await post(app, '/sign-in/mail', { email: 'a@example.com' })).status)
  assert.deepEqual(mails, [202, 202, 202, 429], 'to one address')
  for (let n = 0; n < 7; n++) mails.push((await post(app, '/sign-in/mail', { email: `a${n}@example.com` })).status)
  assert.equal(mails.at(-1), 429, 'from one address')
})

test('signing in always begins a new session, and ends the one before', async () => {
  const app = nextHour()
  const first = cookieOf(await post(app, '/sign-in/operator', { admin_key: ADMIN_KEY }))
  const second = cookieOf(await post(app, '/sign-in/operator', { admin_key: ADMIN_KEY }, { cookie: first }))
  const status = async (cookie: string) => (await app.fetch(`${CONSOLE}/session`, { headers: { cookie } })).status
  assert.notEqual(first, second)
  assert.deepEqual([await status(first), await status(second)], [401, 200])
  // One that an attacker chose is not taken up.
  const chosen = `attestry=${'B'.repeat(43)}`
  await post(app, '/sign-in/operator', { admin_key: ADMIN_KEY }, { cookie: chosen })
  assert.equal(await status(chosen), 401)
})

test('sessions end: signed out, everywhere, idle, old, and with the admin key', async () => {
  const app = nextHour()
  const { orgId } = await app.given.org()
  const laptop = await memberOf(app, orgId, 'viewer', 'a@example.com')
  const phone = await signIn(app, 'A@example.com')
  const other = await memberOf(app, orgId, 'viewer', 'b@example.com')
  const status = async (user: typeof laptop) => (await user.get('/session')).status

  const third = await signIn(app, 'a@example.com')
  const out = await third.post('/sign-out')
  assert.match(out.headers.get('set-cookie')!, /^attestry=; .*Max-Age=0/)
  assert.deepEqual([await status(third), await status(laptop)], [401, 200])
  assert.equal((await phone.post('/sign-out/everywhere')).status, 200)
  assert.deepEqual([await status(laptop), await status(phone), await status(other)], [401, 401, 200])

  const idle = await signIn(app, 'b@example.com')
  app.clock.advance(12 * HOUR)
  assert.equal(await status(idle), 401)
  const busy = await signIn(app, 'b@example.com')
  for (let hours = 0; hours < 7 * 24 - 6; hours += 6) {
    app.clock.advance(6 * HOUR)
    assert.equal(await status(busy), 200, `after ${hours + 6} hours`)
  }
  app.clock.advance(6 * HOUR)
  assert.equal(await status(busy), 401, 'after seven days')

  const operator = await signIn(app)
  const { csrf } = (await operator.get('/session')).body.data
  app.context.adminKey = 'another-admin-key'
  assert.equal(await status(operator), 401)
  app.context.adminKey = ADMIN_KEY
  assert.equal((await operator.get('/session')).body.data.csrf, csrf)
})

test('a session may call twenty times a second', async () => {
  const app = nextHour()
  const operator = await signIn(app)
  const answers = await Promise.all(Array.from({ length: 45 }, () => operator.get('/session')))
  const refused = answers.filter(({ status }) => status === 429)
  assert.equal(refused.length, 45 - 39)
  assert.equal(refused[0]!.headers.get('retry-after'), '1')
})
