import assert from 'node:assert/strict'
import { test } from 'node:test'
import {
  aStudent,
  BRICKLAYING,
  expectOk,
  outcome,
  sharedVerification,
  WIRING,
} from '../../test/support/verification.ts'
import { createSessionKey, revokeKey } from '../access/keys.ts'
import { HOUR } from '../platform/clock.ts'

const setUp = sharedVerification()

test('a session is opened, completed in steps and read', async () => {
  const {
    call,
    clock,
    key,
    openSession: open,
    storeSkills: skills,
    chooseMethod: method,
    storeItems: items,
    getFullVerification: full,
    getVerification: verification,
  } = await setUp()

  const opened = await call('POST', '/verify', { key, body: aStudent({ returnUrl: 'https://college.example/done' }) })
  assert.equal(opened.status, 201)
  assert.equal(opened.body.success, true)
  const { sessionToken, serviceVerificationId, serviceUserId, expiresAt } = opened.body.data
  assert.match(sessionToken, /^vst_[\w-]{43}$/)
  assert.match(serviceVerificationId, /^SV_[A-Z0-9]{26}$/)
  assert.equal(expiresAt, new Date(clock.now() + 24 * HOUR).toISOString())
  const session = { token: sessionToken, id: serviceVerificationId, userId: serviceUserId }

  const stored = await skills(session, [BRICKLAYING, WIRING], { endorsementType: 'mentor' })
  assert.deepEqual(stored.body.data, {
    serviceVerificationId,
    skills: [
      { skillId: BRICKLAYING, name: 'Bricklaying', proofUrl: [] },
      { skillId: WIRING, name: 'House wiring', proofUrl: [] },
    ],
    endorsementType: 'mentor',
  })
  const chosen = await method(session, 'human')
  assert.deepEqual(chosen.body.data, { serviceVerificationId, verificationMethod: 'human' })
  const storedItems = await items(session, { projectIds: ['p-1'], workExperienceIds: ['w-1'], credentialIds: ['c-1'] })
  assert.equal(storedItems.body.data.serviceUserId, serviceUserId)
  const [project] = storedItems.body.data.stored.projects
  assert.deepEqual(project, {
    serviceProjectId: project.serviceProjectId,
    externalProjectId: 'p-1',
    projectName: 'School hall',
  })
  const [experience] = storedItems.body.data.stored.experience
  assert.deepEqual(experience, {
    serviceExperienceId: experience.serviceExperienceId,
    externalExperienceId: 'w-1',
    companyName: 'Metro Ltd',
    role: 'Fabricator',
  })
  assert.equal(storedItems.body.data.stored.certificates[0].certificateName, 'ITI Mason')

  // A second submission replaces the items: others are removed, and chosen ones keep their ID.
  const replaced = await items(session, { projectIds: ['p-1'] })
  assert.deepEqual(replaced.body.data.stored, { projects: [project], experience: [], certificates: [] })

  const sent = aStudent()
  assert.deepEqual(await full(session), {
    serviceVerificationId,
    serviceUserId,
    status: 'open',
    verificationMethod: 'human',
    endorsementType: 'mentor',
    student: { externalStudentId: 'stu-1', name: 'Asha Rao', email: 'asha@example.com', phone: '+91 98765 43210' },
    projects: sent.projects,
    workExperiences: sent.workExperiences,
    certificates: sent.certificates,
    skills: stored.body.data.skills,
    stored: replaced.body.data.stored,
    reviewer: null,
    expiresAt,
    returnUrl: 'https://college.example/done',
  })
  assert.deepEqual(await verification(session), {
    serviceVerificationId,
    serviceUserId,
    externalStudentId: 'stu-1',
    status: 'open',
    verificationMethod: 'human',
    endorsementType: 'mentor',
    source: { type: 'project', title: 'School hall', subtitle: 'Mason', meta: null, description: 'A hall of brick' },
    skills: [
      { skillId: BRICKLAYING, name: 'Bricklaying', outcome: 'pending' },
      { skillId: WIRING, name: 'House wiring', outcome: 'pending' },
    ],
    score: null,
  })
  assert.equal((await open()).userId, serviceUserId, 'the same student gets the same ID')
  assert.notEqual((await open({ externalStudentId: 'stu-2' })).userId, serviceUserId)
})

test('POST /verify names every invalid field', async () => {
  const { call, key } = await setUp()
  const many = Array.from({ length: 51 }, (_, i) => ({ externalProjectId: `p${i}`, projectName: 'A project' }))
  const cases: [object, RegExp][] = [
    [{ externalStudentId: '' }, /^externalStudentId:/],
    [{ externalStudentId: 'x'.repeat(129) }, /^externalStudentId:/],
    [{ name: ' ' }, /^name:/],
    [{ name: 'x'.repeat(201) }, /^name:/],
    [{ email: 'asha' }, /^email:/],
    [{ email: 'a@b.example\r\nBcc: c@d.example' }, /^email:/],
    [{ email: undefined }, /^email: is required/],
    [{ projects: [], workExperiences: [], certificates: [] }, /^projects:/],
    [{ projects: many }, /^projects: must have at most 50 items/],
    [{ projects: [{ externalProjectId: 'p' }] }, /^projects\[0\]\.projectName: is required/],
    [
      { workExperiences: [{ externalExperienceId: 'w', companyName: 'M' }] },
      /^workExperiences\[0\]\.role: is required/,
    ],
    [
      { certificates: [many[0], many[1]].map(() => ({ externalCertificateId: 'c', certificateName: 'C' })) },
      /^certificates\[1\]\.externalCertificateId: is a duplicate/,
    ],
    [{ returnUrl: 'javascript:alert(1)' }, /^returnUrl:/],
    [{ projects: [{ ...many[0], url: 'file:///etc/passwd' }] }, /^projects\[0\]\.url:/],
    [{ name: 'a\u0000b' }, /^name:/],
  ]
  for (const [changes, message] of cases) {
    const response = await call('POST', '/verify', { key, body: aStudent(changes) })
    assert.equal(outcome(response), '400 VALIDATION_FAILED', JSON.stringify(changes).slice(0, 100))
    assert.match(response.body.error.message, message)
  }
  assert.equal(outcome(await call('POST', '/verify', { key, body: '{' })), '400 VALIDATION_FAILED')
  assert.equal(outcome(await call('POST', '/verify', { key, body: [] })), '400 VALIDATION_FAILED')
  const large = aStudent({ projects: [{ ...many[0], description: 'x'.repeat(262_144) }] })
  assert.equal(outcome(await call('POST', '/verify', { key, body: large })), '413 PAYLOAD_TOO_LARGE')
  const text = await call('POST', '/verify', { key, body: '{}', headers: { 'content-type': 'text/plain' } })
  assert.equal(outcome(text), '415 UNSUPPORTED_MEDIA_TYPE')
})

test('length limits count code points, and unknown properties are ignored', async () => {
  const { call, key, getFullVerification: full } = await setUp()
  const name = '👷'.repeat(200)
  const response = await call('POST', '/verify', {
    key,
    body: aStudent({ name, externalStudentId: 'क'.repeat(128), surprise: '\u0000', phone: undefined }),
  })
  assert.equal(response.status, 201)
  const { student } = await full({ token: response.body.data.sessionToken, id: '', userId: '' })
  assert.equal(student.name, name)
  assert.equal('phone' in student, false)
})

test('calls need a session key or a session token', async () => {
  const { app, call, key, openSession: open, orgId } = await setUp()
  const session = await open()
  const { token, id } = session
  const other = await app.given.org('Other')
  const otherKey = await app.given.sessionKey(other.orgId)
  const testKey = await app.given.sessionKey(orgId, 'test')
  const step1 = { sessionToken: token, skills: [{ skillId: BRICKLAYING }] }
  const step2 = { serviceVerificationId: id, verificationMethod: 'human' }
  const reviewer = { serviceVerificationId: id, name: 'R', email: 'r@example.com', company: 'M' }
  const routes: [string, string, object | undefined, boolean][] = [
    ['POST', '/step1/storeskills/store', step1, false],
    ['POST', '/step2/verification-method', step2, true],
    ['POST', '/step3/store-verification-items/store', { sessionToken: token, projectIds: ['p-1'] }, false],
    ['POST', '/storereviewerdetails/store', reviewer, true],
    ['GET', `/verify/${token}`, undefined, false],
    ['POST', '/assessment/generate', undefined, true],
    ['POST', '/assessment/submit', { answers: [] }, true],
    ['GET', '/skills/search?q=brick', undefined, true],
  ]
  const notFound = new Set(['404 SESSION_NOT_FOUND', '404 VERIFICATION_NOT_FOUND'])
  for (const [method, path, body, inHeader] of routes) {
    const sent = body === undefined ? {} : { body }
    const alone = inHeader ? { token } : {}
    app.clock.advance(1000)
    assert.notEqual((await call(method, path, { ...sent, ...alone })).status, 401, `${path} with the token alone`)
    assert.equal(
      outcome(await call(method, path, { ...sent, ...alone, key: 'VSK_LIVE_wrong' })),
      '401 UNAUTHORIZED',
      path,
    )
    for (const foreign of [otherKey, testKey]) {
      const response = await call(method, path, { ...sent, ...alone, key: foreign })
      assert.ok(notFound.has(outcome(response)), `${path} with a foreign key: ${outcome(response)}`)
    }
    if (method === 'GET' && !inHeader) continue
    const { sessionToken: _, ...without } = (body ?? {}) as { sessionToken?: string }
    const bare = body === undefined ? {} : { body: without }
    assert.equal(outcome(await call(method, path, bare)), '401 UNAUTHORIZED', `${path} with neither`)
    if (path.startsWith('/storereviewer')) continue
    assert.equal(outcome(await call(method, path, { ...bare, key })), '400 MISSING_SESSION_TOKEN', `${path}, key alone`)
    const unknown = 'vst_unknown'
    const request = inHeader ? { ...sent, token: unknown } : { body: { ...body, sessionToken: unknown } }
    assert.equal(outcome(await call(method, path, request)), '404 SESSION_NOT_FOUND', `${path}, unknown token`)
    if (inHeader) {
      const bearer = { ...sent, headers: { authorization: `Bearer ${unknown}` } }
      assert.equal(outcome(await call(method, path, bearer)), '404 SESSION_NOT_FOUND', `${path}, as Bearer`)
    }
  }
  assert.equal(outcome(await call('POST', '/verify', { token, body: aStudent() })), '401 UNAUTHORIZED')
  assert.equal(outcome(await call('GET', `/verification/${id}`, { token })), '401 UNAUTHORIZED')
  assert.equal(outcome(await call('GET', `/verification/${id}`, { key: otherKey })), '404 VERIFICATION_NOT_FOUND')
  assert.equal(outcome(await call('GET', '/verification/SV_NOTHING', { key })), '404 VERIFICATION_NOT_FOUND')
  assert.equal(outcome(await call('GET', '/verification/%00', { key })), '404 VERIFICATION_NOT_FOUND')

  // Invalid JSON is reported to authenticated callers only.
  const broken = { body: '{"sessionToken":' }
  assert.equal(outcome(await call('POST', '/step1/storeskills/store', { ...broken, key })), '400 VALIDATION_FAILED')
  assert.equal(outcome(await call('POST', '/step1/storeskills/store', broken)), '401 UNAUTHORIZED')
})

test('the public routes need no key and ignore one', async () => {
  const { call, requestReview: requested } = await setUp()
  const { session } = await requested()
  for (const path of [
    `/step3/store-verification-items/${session.token}/email`,
    `/storereviewerdetails/${session.id}`,
    `/humanverification/verify-page/${session.id}`,
  ]) {
    const response = await call('GET', path, { key: 'VSK_LIVE_wrong' })
    assert.equal(response.status, 200, path)
    assert.equal(response.headers.get('cache-control'), 'no-store')
  }
  const { body } = await call('GET', `/step3/store-verification-items/${session.token}/email`)
  assert.deepEqual(body, { success: true, email: 'asha@example.com', name: 'Asha Rao', serviceUserId: session.userId })
  const unknown = await call('GET', '/step3/store-verification-items/vst_no/email')
  assert.equal(outcome(unknown), '404 SESSION_NOT_FOUND')
  const review = { serviceVerificationId: session.id, token: 'no' }
  assert.equal(outcome(await call('POST', '/humanverification/submit', { body: review })), '403 INVALID_TOKEN')
  const wrong = await call('POST', '/humanverification/submit', { key: 'VSK_LIVE_wrong', body: review })
  assert.equal(outcome(wrong), '401 UNAUTHORIZED', 'routes with a token check the key if one is sent')
})

test('a session expires 24 hours after its last step', async () => {
  const {
    call,
    clock,
    openSession: open,
    storeSkills: skills,
    getFullVerification: full,
    getVerification: verification,
  } = await setUp()
  const session = await open()
  clock.advance(23 * HOUR)
  await expectOk(skills(session))
  clock.advance(24 * HOUR - 1)
  assert.equal((await full(session)).status, 'open')
  clock.advance(1)
  assert.equal(outcome(await skills(session)), '404 SESSION_NOT_FOUND')
  assert.equal(outcome(await call('GET', `/verify/${session.token}`)), '404 SESSION_NOT_FOUND')
  const email = await call('GET', `/step3/store-verification-items/${session.token}/email`)
  assert.equal(outcome(email), '404 SESSION_NOT_FOUND')
  assert.equal((await verification(session)).status, 'expired')
})

test('rate limits apply by key, by token and by IP address', async () => {
  const { call, clock, key, openSession: open } = await setUp()
  const { token, id } = await open()
  const outcomes: string[] = []
  for (let i = 0; i < 6; i++) outcomes.push(outcome(await call('GET', `/verify/${token}`)))
  assert.deepEqual(outcomes, [...Array(5).fill('200'), '429 RATE_LIMITED'])
  const limited = await call('GET', `/verify/${token}`)
  assert.equal(limited.headers.get('retry-after'), '1')
  assert.equal(
    limited.body.error.message,
    'Too many requests with this session token: the limit is 5 per second (burst 5). Try again in 1 second.',
  )
  assert.equal((await call('GET', `/verify/${token}`, { key })).status, 200, 'a key has its own limits')

  clock.advance(1000)
  const byKey = await Promise.all(Array.from({ length: 52 }, () => call('GET', `/verification/${id}`, { key })))
  assert.equal(byKey.filter(({ status }) => status === 429).length, 2)

  const byAddress: number[] = []
  for (let i = 0; i < 61; i++) byAddress.push((await call('GET', `/storereviewerdetails/${id}`)).status)
  assert.deepEqual(byAddress, [...Array(60).fill(404), 429])
  assert.equal(
    (await call('POST', '/humanverification/submit', { body: {} })).status,
    429,
    'public routes share the limit by IP address',
  )
  clock.advance(60_000)
  assert.equal((await call('GET', `/storereviewerdetails/${id}`)).status, 404)
})

test("the student's page searches the catalogue", async () => {
  const { call, openSession: open } = await setUp()
  const { token } = await open()
  const { body, status } = await call('GET', '/skills/search?q=bricklay', { token })
  assert.equal(status, 200)
  assert.equal(body.data.skills[0].skillId, BRICKLAYING)
  assert.equal(outcome(await call('GET', '/skills/search?q=b', { token })), '400 VALIDATION_FAILED')
})

test('no token, key or personal address is logged', async () => {
  const { app, call, key, requestReview: requested, submitReview } = await setUp()
  const { session, token } = await requested()
  await call('GET', `/verify/${session.token}`)
  await submitReview(session, token, { declined: true, reason: 'I do not know them' })
  const log = app.logged.join('\n')
  for (const secret of [session.token, token, key, 'asha@example.com', 'ravi.menon']) {
    assert.equal(log.toLowerCase().includes(secret.toLowerCase()), false, secret.slice(0, 8))
  }
  assert.match(log, /\/api\/v1\/verify\/:sessionToken/)
})

test('revoked and expired keys are rejected', async () => {
  const { app, call, clock, key, orgId } = await setUp()
  const { db, keyring } = app.context
  const brief = await db.transaction((tx) =>
    createSessionKey(tx, clock, { orgId, mode: 'live', expiresAt: new Date(clock.now() + HOUR) }),
  )
  await keyring.refresh()
  assert.equal((await call('POST', '/verify', { key: brief.key, body: aStudent() })).status, 201)
  clock.advance(HOUR)
  assert.equal(outcome(await call('POST', '/verify', { key: brief.key, body: aStudent() })), '401 UNAUTHORIZED')
  await db.transaction((tx) => revokeKey(tx, clock, key))
  await keyring.refresh()
  assert.equal(outcome(await call('POST', '/verify', { key, body: aStudent() })), '401 UNAUTHORIZED')
})
