import assert from 'node:assert/strict'
import { test } from 'node:test'
import { startApp, type TestApp } from '../../../test/support/app.ts'
import { oncePerFile } from '../../../test/support/cleanup.ts'
import { CONSOLE_API, createTestSignInLink, signIn, signInMember } from '../../../test/support/console.ts'
import { until } from '../../../test/support/until.ts'
import { getEmail, listEmails } from '../../mail/mail.ts'
import { HOUR, MINUTE } from '../../platform/clock.ts'
import { addMember } from './members.ts'
import { addOperator } from './operators.ts'

const startSharedApp = oncePerFile((t) => startApp(t, { worker: true }))

/** Returns the shared server an hour later, when all rate limits have been reset. */
async function startWithResetLimits(): Promise<TestApp> {
  const app = await startSharedApp()
  app.clock.advance(HOUR)
  return app
}

const post = (app: TestApp, path: string, body: object) =>
  app.fetch(CONSOLE_API + path, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(body),
  })

/** Returns the text of the newest email to an address. */
async function newestEmailTo({ context }: TestApp, address: string): Promise<string | undefined> {
  const emails = await listEmails(context.db.queries, { limit: 100 })
  const newest = emails.find(({ to_address }) => to_address === address)
  return newest && (await getEmail(context.db.queries, context.vault, newest.mail_id)).text
}

async function readCode(app: TestApp, address: string): Promise<string> {
  const text = (await newestEmailTo(app, address))!
  return /code for the Attestry console is (\d{4} \d{4})\./.exec(text)![1]!
}

test('an operator adds another one, who signs in by email and loses access on removal', async () => {
  const app = await startWithResetLimits()
  const operator = await signIn(app)
  const email = 'meera@example.com'
  const addResponse = await operator.post('/operator/operators', { email })
  assert.equal(addResponse.status, 201)
  assert.equal((await operator.post('/operator/operators', { email: 'MEERA@example.com' })).status, 409)

  assert.equal((await post(app, '/sign-in/mail', { email })).status, 202)
  await until(async () => (await newestEmailTo(app, email))?.includes('#token='))
  const token = /#token=([\w-]+)/.exec((await newestEmailTo(app, email))!)![1]!
  const signInResponse = await post(app, '/sign-in/link', { token })
  assert.deepEqual([signInResponse.body.data.kind, signInResponse.body.data.email], ['operator', email])

  const other = await signIn(app, email)
  assert.equal((await other.get('/operator/orgs')).status, 200)
  const { items } = (await operator.get('/operator/operators')).body.data
  const ids = items.map((item: any) => item.operator_id)
  assert.deepEqual(ids, ids.toSorted(), 'oldest first')
  const listed = items.find((item: any) => item.email === email)
  assert.equal(listed.last_sign_in_at, new Date(app.clock.now()).toISOString())
  const unusedLink = await createTestSignInLink(app, email)
  assert.equal((await operator.delete(`/operator/operators/${listed.operator_id}`)).status, 200)
  assert.equal((await other.get('/session')).status, 401)
  assert.equal((await post(app, '/sign-in/link', { token: unusedLink.split('#token=')[1]! })).status, 401)
  assert.equal((await operator.delete(`/operator/operators/${listed.operator_id}`)).status, 404)

  const self = items.find((item: any) => item.email === operator.email)
  const lastResponse = await operator.delete(`/operator/operators/${self.operator_id}`)
  assert.equal(lastResponse.status, 409)
  assert.match(lastResponse.body.error.message, /only operator/)
  assert.equal((await operator.post('/operator/operators', { email })).status, 201, 'access can be restored')
})

test('a person can be an operator and a member, and keeps the other role', async () => {
  const app = await startWithResetLimits()
  const { context, clock } = app
  const { orgId } = await app.fixtures.createOrg()
  const email = 'both@example.com'
  const { operator_id } = await context.db.transaction((tx) => addOperator(tx, clock, email))
  const both = await signInMember(app, orgId, 'recruiter', 'Both@example.com')
  assert.equal((await both.get('/session')).body.data.kind, 'operator')

  const operator = await signIn(app)
  await operator.delete(`/operator/operators/${operator_id}`)
  const session = (await both.get('/session')).body.data
  assert.equal(session.kind, 'person')
  assert.deepEqual(
    session.organisations.map((org: any) => [org.org_id, org.role]),
    [[orgId, 'recruiter']],
  )
  assert.equal((await both.get('/operator/orgs')).status, 403)
})

test('a person who is removed from one organisation stays signed in to the others', async () => {
  const app = await startWithResetLimits()
  const { orgId } = await app.fixtures.createOrg()
  const { orgId: otherOrgId } = await app.fixtures.createOrg('Other Ltd')
  const email = 'freelancer@example.com'
  const person = await signInMember(app, orgId, 'recruiter', email)
  await app.context.db.transaction((tx) => addMember(tx, app.clock, otherOrgId, { email, role: 'viewer' }))
  for (const [org, status] of [
    [orgId, 200],
    [otherOrgId, 401],
  ] as const) {
    const owner = await signInMember(app, org, 'owner')
    const { items } = (await owner.get(`/orgs/${org}/members`)).body.data
    const { member_id } = items.find((member: any) => member.email === email)
    assert.equal((await owner.delete(`/orgs/${org}/members/${member_id}`)).status, 200)
    assert.equal((await person.get('/session')).status, status)
  }
})

test("an address that only resembles an operator's gets no operator rights", async () => {
  const app = await startWithResetLimits()
  const { context, clock } = app
  const { orgId } = await app.fixtures.createOrg()
  await context.db.transaction((tx) => addOperator(tx, clock, 'kiran@corp.example'))
  const lookalike = '\u212Airan@corp.example' // KELVIN SIGN, which lowercases to k
  await context.db.transaction((tx) => addMember(tx, clock, orgId, { email: lookalike, role: 'viewer' }))
  const member = await signIn(app, lookalike)
  assert.equal((await member.get('/session')).body.data.kind, 'person')
  assert.equal((await member.get('/operator/orgs')).status, 403)
  const operator = await signIn(app, 'kiran@corp.example')
  assert.equal((await member.get('/sessions')).body.data.items.length, 1)
  await member.post('/sign-out/everywhere')
  assert.equal((await operator.get('/operator/orgs')).status, 200)
})

test('sensitive changes require a sign-in or a code of the last 15 minutes', async () => {
  const app = await startWithResetLimits()
  const { orgId, key } = await app.fixtures.createOrg()
  const owner = await signInMember(app, orgId, 'owner')
  const viewer = await signInMember(app, orgId, 'viewer')
  const { items } = (await owner.get(`/orgs/${orgId}/members`)).body.data
  const { member_id } = items.find((member: any) => member.email === viewer.email)
  const operator = await signIn(app)
  const changes = [
    () => owner.post(`/orgs/${orgId}/live/keys`, { kind: 'session' }),
    () => owner.post(`/orgs/${orgId}/live/keys/${key.keyId}/rotate`, {}),
    () => owner.put(`/orgs/${orgId}/members/${member_id}`, { role: 'recruiter' }),
    () => owner.post(`/orgs/${orgId}/members`, { email: 'new@example.com', role: 'viewer' }),
    () => owner.delete(`/orgs/${orgId}/members/${member_id}`),
    () => owner.post(`/orgs/${orgId}/live/keys/${key.keyId}/revoke`),
    () => operator.post(`/operator/orgs/${orgId}/credits`, { mode: 'test', amount: 5 }),
    () => operator.post('/operator/operators', { email: 'nikhil@example.com' }),
  ]
  app.clock.advance(15 * MINUTE)
  for (const change of changes) {
    const response = await change()
    assert.deepEqual([response.status, response.body.error.code], [403, 'RECENT_SIGN_IN_REQUIRED'])
  }
  assert.equal((await owner.get(`/orgs/${orgId}/live/keys`)).status, 200, 'reads stay possible')
  assert.equal((await owner.post(`/orgs/${orgId}/test/workflows`, { name: 'Site hiring' })).status, 201)

  for (const user of [owner, operator]) {
    assert.equal((await user.post('/confirmation/mail')).status, 202)
    const code = await readCode(app, user.email)
    assert.equal((await user.post('/confirmation', { code: '0000 0000' })).status, 400)
    const otherSession = await signIn(app, user.email)
    assert.equal((await otherSession.post('/confirmation', { code })).status, 400, 'in another session')
    assert.equal((await user.post('/confirmation', { code })).status, 200)
    assert.equal((await user.post('/confirmation', { code })).status, 400, 'the code works once')
  }
  for (const change of changes) assert.ok((await change()).status < 300)
  app.clock.advance(15 * MINUTE)
  assert.equal((await changes[0]!()).status, 403)
})

test('a code expires, and is invalid after five wrong attempts', async () => {
  const app = await startWithResetLimits()
  const { orgId } = await app.fixtures.createOrg()
  const owner = await signInMember(app, orgId, 'owner')
  await owner.post('/confirmation/mail')
  const firstCode = await readCode(app, owner.email)
  const wrongCode = firstCode === '0000 0000' ? '1111 1111' : '0000 0000'
  const attempts = await Promise.all(Array.from({ length: 6 }, () => owner.post('/confirmation', { code: wrongCode })))
  assert.ok(attempts.every(({ status }) => status === 400))
  assert.equal((await owner.post('/confirmation', { code: firstCode })).status, 400, 'after six attempts')
  await owner.post('/confirmation/mail')
  const secondCode = await readCode(app, owner.email)
  app.clock.advance(10 * MINUTE)
  assert.equal((await owner.post('/confirmation', { code: secondCode })).status, 400, 'after ten minutes')
  const statuses = [await owner.post('/confirmation/mail'), await owner.post('/confirmation/mail')]
  assert.deepEqual(
    statuses.map(({ status }) => status),
    [202, 429],
    'three emails in 15 minutes',
  )
})

test('an operator with an old session cannot read emails with sign-in links or codes', async () => {
  const app = await startWithResetLimits()
  const operator = await signIn(app)
  app.clock.advance(15 * MINUTE)
  await operator.post('/confirmation/mail')
  const { items } = (await operator.get('/operator/mails?kind=sign_in&limit=1')).body.data
  assert.equal(items[0].to_address, operator.email)
  for (const path of ['', '/html']) {
    const response = await operator.get(`/operator/mails/${items[0].mail_id}${path}`)
    assert.equal(response.body.error.code, 'RECENT_SIGN_IN_REQUIRED')
  }
  const code = await readCode(app, operator.email)
  await operator.post('/confirmation', { code })
  assert.equal((await operator.get(`/operator/mails/${items[0].mail_id}`)).status, 200)
})

test('a person lists their own sessions and ends one of them', async () => {
  const app = await startWithResetLimits()
  const { orgId } = await app.fixtures.createOrg()
  const laptop = await signInMember(app, orgId, 'viewer')
  const otherPerson = await signInMember(app, orgId, 'viewer')
  app.clock.advance(MINUTE)
  const link = await createTestSignInLink(app, laptop.email)
  const phoneResponse = await app.fetch(`${CONSOLE_API}/sign-in/link`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', 'user-agent': 'Phone/1.0' },
    body: JSON.stringify({ token: link.split('#token=')[1] }),
  })
  const phoneCookie = phoneResponse.headers.get('set-cookie')!.split(';')[0]!
  const { items } = (await laptop.get('/sessions')).body.data
  assert.deepEqual(
    items.map(({ user_agent, address, current }: any) => [user_agent, address, current]),
    [
      ['Phone/1.0', '127.0.0.1', false],
      [null, null, true],
    ],
  )
  const [phoneSession] = items
  assert.equal((await otherPerson.delete(`/sessions/${phoneSession.session_id}`)).status, 404)
  const statusOfPhone = async () =>
    (await app.fetch(`${CONSOLE_API}/session`, { headers: { cookie: phoneCookie } })).status
  assert.equal(await statusOfPhone(), 200)
  assert.equal((await laptop.delete(`/sessions/${phoneSession.session_id}`)).status, 200)
  assert.equal(await statusOfPhone(), 401)
  assert.equal((await laptop.get('/session')).status, 200)
  assert.equal((await laptop.delete(`/sessions/${phoneSession.session_id}`)).status, 404)
})

test("an owner lists and ends a member's sessions, and other roles and organisations cannot", async () => {
  const app = await startWithResetLimits()
  const { orgId } = await app.fixtures.createOrg()
  const owner = await signInMember(app, orgId, 'owner')
  const member = await signInMember(app, orgId, 'recruiter')
  const phone = await signIn(app, member.email)
  const { orgId: otherOrgId } = await app.fixtures.createOrg()
  const otherOwner = await signInMember(app, otherOrgId, 'owner')
  const { items: members } = (await owner.get(`/orgs/${orgId}/members`)).body.data
  const { member_id } = members.find(({ email }: any) => email === member.email)
  const path = `/orgs/${orgId}/members/${member_id}/sessions`
  assert.equal((await member.get(path)).status, 403)
  assert.equal((await otherOwner.get(path)).status, 404)
  assert.equal((await otherOwner.get(path.replace(orgId, otherOrgId))).status, 404)
  assert.equal((await otherOwner.delete(path.replace(orgId, otherOrgId))).status, 404)

  for (const user of [member, phone]) assert.equal((await user.get(`/orgs/${orgId}`)).status, 200)
  await signIn(app, member.email) // has not opened the organisation: a person can belong to others, which are not shown
  const { items } = (await owner.get(path)).body.data
  assert.equal(items.length, 2)
  assert.equal(items[0].seen_at, new Date(app.clock.now()).toISOString())
  const ownSessions = (await owner.get('/sessions')).body.data.items
  assert.equal((await owner.delete(`${path}/${ownSessions[0].session_id}`)).status, 404, 'of another person')
  const phoneId = (await phone.get('/sessions')).body.data.items.find(({ current }: any) => current).session_id
  assert.equal((await owner.delete(`${path}/${phoneId}`)).status, 200)
  assert.deepEqual([(await phone.get('/session')).status, (await member.get('/session')).status], [401, 200])
  assert.deepEqual((await owner.delete(path)).body.data, { ended: 1 })
  assert.equal((await member.get('/session')).status, 401)
  const audit = (await owner.get(`/orgs/${orgId}/audit?limit=2`)).body.data.items
  assert.deepEqual(
    audit.map(({ action, details }: any) => [action, details.email]),
    [
      ['member.end_sessions', member.email],
      ['member.end_session', member.email],
    ],
  )
})

test("an owner does not see the addresses of an operator's sessions", async () => {
  const app = await startWithResetLimits()
  const { context, clock } = app
  const { orgId } = await app.fixtures.createOrg()
  const owner = await signInMember(app, orgId, 'owner')
  const email = 'operator-and-member@example.com'
  await context.db.transaction((tx) => addOperator(tx, clock, email))
  await context.db.transaction((tx) => addMember(tx, clock, orgId, { email, role: 'viewer' }))
  const link = await createTestSignInLink(app, email)
  const signInResponse = await post(app, '/sign-in/link', { token: link.split('#token=')[1]! })
  const cookie = signInResponse.headers.get('set-cookie')!.split(';')[0]!
  assert.equal((await app.fetch(`${CONSOLE_API}/orgs/${orgId}`, { headers: { cookie } })).status, 200)
  const { items: members } = (await owner.get(`/orgs/${orgId}/members`)).body.data
  const { member_id } = members.find((member: any) => member.email === email)
  const { items } = (await owner.get(`/orgs/${orgId}/members/${member_id}/sessions`)).body.data
  assert.deepEqual([items.length, items[0].address, items[0].user_agent], [1, null, null])
})
