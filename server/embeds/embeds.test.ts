import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { test } from 'node:test'
import { setTimeout } from 'node:timers/promises'
import { startApp, type TestApp } from '../../test/support/app.ts'
import { candidatePage, inviteCandidate } from '../../test/support/candidate.ts'
import { oncePerFile } from '../../test/support/cleanup.ts'
import { signInMember } from '../../test/support/console.ts'
import { createPartner } from '../../test/support/partners.ts'
import { verificationCalls } from '../../test/support/verification.ts'
import { switchService } from '../access/service-switch.ts'
import { erasePerson } from '../people/erasure.ts'
import { DAY, HOUR, MINUTE } from '../platform/clock.ts'
import { changeOrigins } from './allowed-origins.ts'
import { createEmbedSession, deleteEndedEmbedSessions, MAX_UNOPENED_SESSIONS } from './embed-sessions.ts'

const ORIGIN = 'https://careers.example.com'

const getApp = oncePerFile((t) => startApp(t))

/** Invites a candidate, and allows the organisation to embed pages on one origin. */
async function setUp() {
  const app = await getApp()
  const invitation = await inviteCandidate(app)
  const { partner, campaign_id, getCandidacy } = invitation
  await allow(app, partner.scope, [ORIGIN])
  const { candidate_id, result_id, person_id } = await getCandidacy()
  return {
    app,
    ...invitation,
    personId: person_id,
    paths: {
      candidate: `/campaigns/${campaign_id}/candidates/${candidate_id}/embed-sessions`,
      report: `/results/${result_id}/embed-sessions`,
    },
  }
}

const allow = ({ context, clock }: TestApp, scope: { orgId: string; mode: 'test' | 'live' }, origins: string[]) =>
  context.db.transaction((tx) => changeOrigins(tx, clock, scope, origins))

type Post = (path: string, body: object) => Promise<{ status: number; body: any }>

async function create(post: Post, path: string): Promise<{ embedId: string; token: string; url: string }> {
  const { status, body } = await post(path, { origin: ORIGIN })
  assert.equal(status, 201, JSON.stringify(body))
  return partsOf(body.data.url)
}

function partsOf(url: string) {
  const { pathname, hash } = new URL(url)
  return { url, embedId: pathname.split('/').pop()!, token: hash.replace('#token=', '') }
}

async function open({ url }: TestApp, { embedId, token }: { embedId: string; token: string }) {
  const response = await fetch(`${url}/api/v1/embed/${embedId}/open`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ token }),
  })
  const body: any = await response.json()
  return { status: response.status, code: body.error?.code, pageToken: body.data?.pageToken as string, body }
}

const getCandidateView = async ({ url }: TestApp, token: string) => fetch(`${url}/api/v1/candidate/${token}`)

const postAsCandidate = ({ url }: TestApp, token: string, path: string, body: object) =>
  fetch(`${url}/api/v1/candidate/${token}${path}`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(body),
  })

const getYourData = ({ url }: TestApp, token: string) =>
  fetch(`${url}/api/v1/your-data/candidate`, { headers: { authorization: `Bearer ${token}` } })

const getReport = ({ url }: TestApp, token: string) =>
  fetch(`${url}/api/v1/embedded-report`, { headers: { authorization: `Bearer ${token}` } })

test('an embed session opens the conversation once, and the opened page answers as the candidate', async () => {
  const { app, partner, paths, token: linkToken } = await setUp()
  const { status, body } = await partner.post(paths.candidate, { origin: ORIGIN })
  assert.equal(status, 201, JSON.stringify(body))
  const { url, expires_at, ...record } = body.data
  assert.deepEqual(record, { embed_id: partsOf(url).embedId, view: 'candidate', origin: ORIGIN })
  assert.equal(Date.parse(expires_at) - app.clock.now(), 5 * MINUTE)
  assert.ok(url.startsWith(`${app.url}/embed/EMB_`))

  const opened = await open(app, partsOf(url))
  assert.equal(opened.status, 200, JSON.stringify(opened.body))
  assert.equal(Date.parse(opened.body.data.expiresAt) - app.clock.now(), 2 * HOUR)
  const page = candidatePage(app.url, opened.pageToken)
  assert.equal((await page.view()).status, 'open')
  const { step } = await page.reply({ value: 'yes' })
  assert.equal((await candidatePage(app.url, linkToken).view()).step, step)

  const again = await open(app, partsOf(url))
  assert.deepEqual([again.status, again.code], [410, 'LINK_EXPIRED'])
  assert.match(again.body.error.message, /already opened/)
})

test('tokens work for one purpose: the token of a page opens neither the personal link nor another view', async () => {
  const { app, partner, paths } = await setUp()
  const candidate = await create(partner.post, paths.candidate)
  const report = await create(partner.post, paths.report)
  assert.equal((await getCandidateView(app, candidate.token)).status, 404, 'the token of the URL is not that of a page')
  assert.equal((await open(app, { embedId: report.embedId, token: candidate.token })).status, 404)
  const { pageToken } = await open(app, candidate)
  assert.equal((await getCandidateView(app, pageToken)).status, 200)
  assert.equal((await fetch(`${app.url}/c/${pageToken}`)).status, 404)
  assert.equal((await getReport(app, pageToken)).status, 404)
  const reportToken = (await open(app, report)).pageToken
  assert.equal((await getCandidateView(app, reportToken)).status, 404)
  assert.equal((await getReport(app, 'vst_unknown')).status, 404)
  assert.equal((await fetch(`${app.url}/api/v1/embedded-report`)).status, 401)
})

test('the page of a result shows the report without contact data', async () => {
  const { app, partner, paths } = await setUp()
  const { pageToken } = await open(app, await create(partner.post, paths.report))
  const response = await getReport(app, pageToken)
  assert.equal(response.headers.get('cache-control'), 'no-store')
  const { data }: any = await response.json()
  assert.equal(data.title, 'Report: Asha Verma')
  assert.match(data.testNotice, /^TEST/)
  assert.doesNotMatch(JSON.stringify(data), /\+91|@/)
})

test('a URL expires after five minutes, and an opened page after two hours', async () => {
  const { app, partner, paths } = await setUp()
  const [unopened, report] = [await create(partner.post, paths.candidate), await create(partner.post, paths.report)]
  const candidate = await create(partner.post, paths.candidate)
  const { pageToken } = await open(app, candidate)
  const reportToken = (await open(app, report)).pageToken
  app.clock.advance(5 * MINUTE)
  const expired = await open(app, unopened)
  assert.deepEqual([expired.status, expired.code], [410, 'LINK_EXPIRED'])
  assert.equal((await getCandidateView(app, pageToken)).status, 200)
  app.clock.advance(2 * HOUR - 5 * MINUTE)
  assert.equal((await getCandidateView(app, pageToken)).status, 410)
  assert.equal((await getReport(app, reportToken)).status, 410)
  assert.equal(
    (await getYourData(app, pageToken)).status,
    200,
    'the notice about personal data can be read as long as data is stored',
  )

  app.clock.advance(8 * DAY)
  await app.context.db.transaction((tx) => deleteEndedEmbedSessions(tx, app.clock.now()))
  assert.equal((await getCandidateView(app, pageToken)).status, 404)
  assert.equal((await fetch(`${app.url}/embed/${candidate.embedId}`)).status, 404)
})

test('revoking the link of a candidate, or removing the origin, ends embedded pages', async () => {
  const { app, partner, paths } = await setUp()
  const [unopened, report] = [await create(partner.post, paths.candidate), await create(partner.post, paths.report)]
  const { pageToken } = await open(app, await create(partner.post, paths.candidate))
  const reportToken = (await open(app, report)).pageToken
  assert.equal((await getYourData(app, pageToken)).status, 200)
  await partner.post(paths.candidate.replace('embed-sessions', 'revoke-link'))
  assert.equal((await getCandidateView(app, pageToken)).status, 410)
  assert.equal(
    (await postAsCandidate(app, pageToken, '/reply', { step: 1, client_id: randomUUID(), value: 'stop' })).status,
    410,
  )
  assert.equal((await getYourData(app, pageToken)).status, 404)
  assert.deepEqual([(await open(app, unopened)).status, (await open(app, unopened)).code], [410, 'LINK_EXPIRED'])
  assert.equal((await getReport(app, reportToken)).status, 200, 'the report does not depend on the link')
  await allow(app, partner.scope, ['https://other.example.com'])
  assert.equal((await getReport(app, reportToken)).status, 410)
  const { status, body } = await partner.post(paths.report, { origin: ORIGIN })
  assert.equal(status, 400)
  assert.match(body.error.details[0].message, /allowed origins of the organisation in TEST mode/)
})

test('after an erasure, pages report that the data was erased, and none can be created', async () => {
  const { app, partner, paths, personId } = await setUp()
  const unopened = await create(partner.post, paths.candidate)
  const reportToken = (await open(app, await create(partner.post, paths.report))).pageToken
  const { pageToken } = await open(app, await create(partner.post, paths.candidate))
  await app.context.db.transaction((tx) =>
    erasePerson(tx, app.context, partner.scope, personId, { basis: 'GDPR Article 17', requestedBy: 'the person' }),
  )
  // A later reason to end sessions does not replace the first one.
  await partner.post(paths.candidate.replace('embed-sessions', 'revoke-link'))
  await allow(app, partner.scope, ['https://other.example.com'])
  const opening = await open(app, unopened)
  assert.deepEqual([opening.status, opening.code], [410, 'DATA_ERASED'])
  const report: any = await (await getReport(app, reportToken)).json()
  assert.equal(report.error.code, 'DATA_ERASED')
  const view = await getCandidateView(app, pageToken)
  assert.deepEqual([view.status, ((await view.json()) as any).error.code], [410, 'DATA_ERASED'])
  for (const path of Object.values(paths)) {
    const { status, body } = await partner.post(path, { origin: ORIGIN })
    assert.deepEqual([status, body.error.code], [409, 'CONFLICT'])
  }
})

test('while the processing is restricted, no page is created and the report is not shown', async () => {
  const { app, partner, paths, personId } = await setUp()
  const reportToken = (await open(app, await create(partner.post, paths.report))).pageToken
  assert.equal((await partner.post(`/people/${personId}/restrict`, {})).status, 200)
  assert.equal((await getReport(app, reportToken)).status, 404)
  for (const path of Object.values(paths)) assert.equal((await partner.post(path, { origin: ORIGIN })).status, 409)
})

test('other organisations, keys of the other mode and keys without the scope cannot create sessions', async () => {
  const { app, partner, paths } = await setUp()
  const other = await createPartner(app, 'test')
  const live = await createPartner(app, 'live', partner.orgId)
  await allow(app, other.scope, [ORIGIN])
  await allow(app, live.scope, [ORIGIN])
  for (const path of Object.values(paths)) {
    assert.equal((await other.post(path, { origin: ORIGIN })).status, 404)
    assert.equal((await live.post(path, { origin: ORIGIN })).status, 404)
  }
  const reader = await app.fixtures.createPartnerKey(partner.orgId, { mode: 'test', scopes: ['results:read'] })
  assert.equal((await app.as(reader).post(paths.candidate, { origin: ORIGIN })).status, 403)
  assert.equal((await app.as(reader).post(paths.report, { origin: ORIGIN })).status, 201)
  const writer = await app.fixtures.createPartnerKey(partner.orgId, { mode: 'test', scopes: ['campaigns:write'] })
  const { status, body } = await app.as(writer).post(paths.candidate, { origin: ORIGIN })
  assert.deepEqual([status, body.error.code], [403, 'SCOPE_MISSING'])
  assert.match(body.error.message, /results:read/)
})

test('an opened page does not get the link for managing credentials, which works for longer', async () => {
  const { app, partner, paths, token: linkToken } = await setUp()
  const { pageToken } = await open(app, await create(partner.post, paths.candidate))
  const decide = async (token: string) => {
    const response = await postAsCandidate(app, token, '/credentials', { wanted: true })
    assert.equal(response.status, 200)
    return ((await response.json()) as any).data
  }
  const countLinks = async () => {
    const query = 'select 1 from credential_holder_links where org_id = $1'
    return (await app.context.db.pool.query(query, [partner.orgId])).rows.length
  }
  const { wanted, manage_url } = await decide(pageToken)
  assert.deepEqual([wanted, manage_url, await countLinks()], [true, null, 0])
  assert.match((await decide(linkToken)).manage_url, /#token=hct_/)
})

test('after the opened page has expired, the candidate can still withdraw consent and stop', async () => {
  const { app, partner, paths, getCandidacy } = await setUp()
  const { pageToken } = await open(app, await create(partner.post, paths.candidate))
  const { step } = await candidatePage(app.url, pageToken).view()
  app.clock.advance(2 * HOUR)
  assert.equal(
    (await postAsCandidate(app, pageToken, '/reply', { step, client_id: randomUUID(), value: 'yes' })).status,
    410,
  )
  assert.equal((await postAsCandidate(app, pageToken, '/credentials', { wanted: true })).status, 410)
  assert.equal((await postAsCandidate(app, pageToken, '/credentials', { wanted: false })).status, 200)
  assert.equal(
    (await postAsCandidate(app, pageToken, '/reply', { step, client_id: randomUUID(), value: 'stop' })).status,
    200,
  )
  assert.notEqual((await getCandidacy()).status, 'pending')
})

test('removing an origin waits for a session that is being created, and ends it', async () => {
  const { app, partner, paths } = await setUp()
  const { candidate_id: candidateId, person_id: personId } = (
    await app.context.db.pool.query('select candidate_id, person_id from candidates where org_id = $1', [partner.orgId])
  ).rows[0]
  let removal: Promise<unknown> = Promise.resolve()
  const { url } = await app.context.db.transaction(async (tx) => {
    const target = { view: 'report', targetId: candidateId, personId } as const
    const session = await createEmbedSession(tx, app.context, partner.scope, target, { origin: ORIGIN })
    removal = allow(app, partner.scope, [])
    await setTimeout(300)
    return session
  })
  await removal
  assert.equal((await open(app, partsOf(url))).code, 'LINK_EXPIRED')
  assert.equal((await partner.post(paths.report, { origin: ORIGIN })).status, 400)
})

test('no page is created for the conversation of an archived campaign', async () => {
  const { app, partner, paths, campaign_id } = await setUp()
  assert.equal((await partner.remove(`/campaigns/${campaign_id}`)).status, 200)
  const { status, body } = await partner.post(paths.candidate, { origin: ORIGIN })
  assert.deepEqual([status, body.error.code], [409, 'CONFLICT'])
  assert.match(body.error.message, /campaign has ended/)
  assert.equal((await open(app, await create(partner.post, paths.report))).status, 200)
})

test('the export of a person lists the embed sessions', async () => {
  const { app, partner, paths, personId } = await setUp()
  const { embedId } = await create(partner.post, paths.report)
  const opened = await create(partner.post, paths.candidate)
  await open(app, opened)
  const { sections } = (await partner.get(`/people/${personId}/export`)).body.data
  const { records } = sections.find(({ name }: any) => name === 'embed_sessions')
  const created_at = new Date(app.clock.now()).toISOString()
  const byId = new Map(records.map((record: any) => [record.embed_id, record]))
  const shared = { origin: ORIGIN, created_at }
  assert.deepEqual(byId.get(embedId), { ...shared, embed_id: embedId, view: 'report', opened_at: null })
  const expected = { ...shared, embed_id: opened.embedId, view: 'candidate', opened_at: created_at }
  assert.deepEqual(byId.get(opened.embedId), expected)
})

test('an ID of another form is not found', async () => {
  const app = await getApp()
  for (const embedId of ['EMB_%00', 'x']) {
    const { status, code } = await open(app, { embedId, token: 'x' })
    assert.deepEqual([status, code], [404, 'NOT_FOUND'])
  }
})

test('a repeated request with the same Idempotency-Key returns the same URL, which is not stored in plain text', async () => {
  const { app, partner, paths } = await setUp()
  const send = () => partner.post(paths.report, { origin: ORIGIN }, { idempotencyKey: 'embed-1' })
  const [first, second] = [await send(), await send()]
  assert.equal(first.body.data.url, second.body.data.url)
  const { token } = partsOf(first.body.data.url)
  const { rows } = await app.context.db.pool.query(
    `select 1 from idempotency_records where body like '%' || $1 || '%' union all
      select 1 from embed_sessions where embed_sessions::text like '%' || $1 || '%'`,
    [token],
  )
  assert.equal(rows.length, 0)
})

test('too many sessions that nobody opens are rejected until they expire', async () => {
  const { app, partner, paths } = await setUp()
  for (let i = 0; i < MAX_UNOPENED_SESSIONS; i++) await create(partner.post, paths.report)
  const { status, body, headers } = await partner.post(paths.report, { origin: ORIGIN })
  assert.deepEqual([status, body.error.code, headers.get('retry-after')], [429, 'RATE_LIMITED', '300'])
  app.clock.advance(5 * MINUTE)
  await create(partner.post, paths.report)
})

test('while the service of the organisation is off, pages are not opened, and can be opened afterwards', async () => {
  const { app, partner, paths } = await setUp()
  const session = await create(partner.post, paths.report)
  const reportToken = (await open(app, await create(partner.post, paths.report))).pageToken
  const setService = async (enabled: boolean) => {
    await app.context.db.transaction((tx) =>
      switchService(tx, app.clock, { orgId: partner.orgId, state: enabled ? 'on' : 'off' }),
    )
    await app.context.keyring.refresh()
  }
  await setService(false)
  assert.equal((await open(app, session)).code, 'SERVICE_DISABLED')
  assert.equal((await getReport(app, reportToken)).status, 503)
  await setService(true)
  assert.equal((await open(app, session)).status, 200)
})

test('the page can be framed by its origin only, and every other page by none', async () => {
  const { app, partner, paths, link } = await setUp()
  const { url } = await create(partner.post, paths.candidate)
  const page = await fetch(url)
  assert.equal(page.status, 200)
  assert.match(page.headers.get('content-security-policy')!, new RegExp(`frame-ancestors ${ORIGIN}(;|$)`))
  assert.equal(page.headers.get('x-frame-options'), null)
  assert.equal(page.headers.get('referrer-policy'), 'no-referrer')
  assert.equal(page.headers.get('set-cookie'), null)
  assert.doesNotMatch(await page.text(), /Asha/)

  const unknown = await fetch(`${app.url}/embed/EMB_01ARZ3NDEKTSV4RRFFQ69G5FAV`)
  assert.equal(unknown.status, 404)
  const otherPaths = ['/', '/session', '/verify/SV_1', '/console', '/your-data/candidate']
  const others = await Promise.all([link, ...otherPaths.map((path) => app.url + path)].map((address) => fetch(address)))
  for (const { headers, url: address } of [unknown, ...others])
    assert.match(headers.get('content-security-policy')!, /frame-ancestors 'none'/, address)
  for (const { headers, url: address } of others) assert.equal(headers.get('x-frame-options'), 'DENY', address)
})

test('the script is small, can be used by other websites, and is validated by its ETag', async () => {
  const app = await getApp()
  const response = await fetch(`${app.url}/embed.js`, { headers: { 'accept-encoding': 'br' } })
  assert.equal(response.status, 200)
  assert.equal(response.headers.get('content-type'), 'text/javascript; charset=utf-8')
  assert.equal(response.headers.get('cache-control'), 'public, max-age=300')
  assert.equal(response.headers.get('cross-origin-resource-policy'), 'cross-origin')
  assert.match(await response.text(), /^\(\(\)=>\{.*\}\)\(\);\s*$/s, 'declares no global names')
  const bytes = Number(response.headers.get('content-length'))
  assert.ok(bytes > 0 && bytes < 5 * 1024, `${bytes} bytes`)
  const etag = response.headers.get('etag')!
  const unchanged = await fetch(`${app.url}/embed.js`, { headers: { 'if-none-match': etag } })
  assert.equal(unchanged.status, 304)
})

test('owners change the allowed origins, and invalid origins are explained', async () => {
  const app = await getApp()
  const { orgId } = await app.fixtures.createOrg()
  const owner = await signInMember(app, orgId, 'owner')
  const path = (mode: string) => `/orgs/${orgId}/${mode}/embed-origins`
  assert.deepEqual((await owner.get(path('test'))).body.data, { origins: [] })
  const origins = ['https://Careers.example.com/', 'http://localhost:*', 'http://127.0.0.1:3000', ORIGIN]
  const changed = await owner.put(path('test'), { origins })
  assert.deepEqual(changed.body.data, { origins: [ORIGIN, 'http://localhost:*', 'http://127.0.0.1:3000'] })
  assert.deepEqual((await owner.get(path('live'))).body.data, { origins: [] })

  const messages = async (mode: string, list: string[]) => {
    const { status, body } = await owner.put(path(mode), { origins: list })
    assert.equal(status, 400, JSON.stringify(body))
    return body.error.details.map(({ path, message }: any) => `${path} ${message}`)
  }
  assert.deepEqual(
    await messages('live', ['http://localhost:*', 'http://localhost:3000', 'http://careers.example.com']),
    [
      'origins[0] must not be http://localhost:*, which is accepted in TEST mode only',
      'origins[1] must start with https://; http://localhost:3000 is accepted in TEST mode only',
      'origins[2] must start with https://; http is accepted in TEST mode for localhost only; got "http://careers.example.com"',
    ],
  )
  assert.deepEqual(
    await messages('test', [
      'https://*.example.com',
      'careers.example.com',
      'https://a.example.com/jobs',
      'https://a.example.com:443',
      'https://a.example.com; script-src *',
      'https://user@a.example.com',
      'https://a$_.example.com',
      'http://[::1]:3000',
    ]),
    [
      'origins[0] must be one exact origin, without a wildcard; got "https://*.example.com"',
      'origins[1] must be an origin such as https://careers.example.com; got "careers.example.com"',
      'origins[2] must have a scheme, a host and an optional port only; write https://a.example.com instead of "https://a.example.com/jobs"',
      'origins[3] must not name the default port; write https://a.example.com',
      'origins[4] must be one exact origin, without a wildcard; got "https://a.example.com; script-src *"',
      'origins[5] must have a scheme, a host and an optional port only; write https://a.example.com instead of "https://user@a.example.com"',
      'origins[6] must have a host of letters, digits, dots and hyphens only; got "https://a$_.example.com"',
      'origins[7] must have a host of letters, digits, dots and hyphens only; got "http://[::1]:3000"',
    ],
  )
  const many = Array.from({ length: 21 }, (_, i) => `https://a${i}.example.com`)
  assert.equal((await owner.put(path('test'), { origins: many })).status, 400)

  const audit = (await owner.get(`/orgs/${orgId}/audit`)).body.data.items
  const entry = audit.find(({ action }: any) => action === 'embed_origins.change')
  assert.deepEqual(entry.details.origins, changed.body.data.origins)
  const recruiter = await signInMember(app, orgId, 'recruiter')
  assert.equal((await recruiter.put(path('test'), { origins: [] })).status, 403)
})

test('the page of a student is opened with an embed session, and acts as the student', async () => {
  const app = await getApp()
  const { orgId } = await app.fixtures.createOrg()
  const scope = { orgId, mode: 'test' } as const
  await allow(app, scope, [ORIGIN])
  const key = await app.fixtures.createSessionKey(orgId, 'test')
  const calls = verificationCalls(app, orgId, key, 'test')
  const session = await calls.openSession()
  const path = `/verification/${session.id}/embed-sessions`
  const createStudent = (body: object, callKey = key) => calls.call('POST', path, { key: callKey, body })
  const { status, body } = await createStudent({ origin: ORIGIN, language: 'hi' })
  assert.equal(status, 201, JSON.stringify(body))
  assert.equal(body.data.view, 'student')
  const { pageToken } = await open(app, partsOf(body.data.url))
  const opened = { ...session, token: pageToken }
  assert.equal((await calls.call('GET', `/verify/${pageToken}`)).body.data.serviceVerificationId, session.id)
  assert.equal((await calls.storeSkills(opened)).status, 200)
  const consent = await calls.call('POST', `/verify/${pageToken}/credentials`, { body: { wanted: true } })
  assert.deepEqual([consent.body.data.wanted, consent.body.data.manageUrl], [true, null])
  assert.equal((await calls.call('GET', '/skills/search?q=brick', { token: pageToken })).status, 200)
  const notice = await fetch(`${app.url}/api/v1/your-data/session`, {
    headers: { authorization: `Bearer ${pageToken}` },
  })
  assert.equal(notice.status, 200)

  const liveKey = await app.fixtures.createSessionKey(orgId, 'live')
  assert.equal((await createStudent({ origin: ORIGIN }, liveKey)).body.error.code, 'VERIFICATION_NOT_FOUND')
  const otherKey = await app.fixtures.createSessionKey((await app.fixtures.createOrg()).orgId, 'test')
  assert.equal((await createStudent({ origin: ORIGIN }, otherKey)).body.error.code, 'VERIFICATION_NOT_FOUND')
  assert.equal((await createStudent({ origin: 'https://evil.example.com' })).status, 400)
  assert.equal((await createStudent({ origin: ORIGIN, language: 'fr' })).status, 400)

  app.clock.advance(2 * HOUR)
  assert.equal((await calls.call('GET', `/verify/${pageToken}`)).body.error.code, 'SESSION_NOT_FOUND')
  assert.equal((await calls.call('GET', `/verify/${session.token}`)).status, 200)
})
