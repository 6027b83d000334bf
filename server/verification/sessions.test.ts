import assert from 'node:assert/strict'
import { test } from 'node:test'
import fastify from 'fastify'
import {
  aStudent,
  BRICKLAYING,
  expectOk,
  outcomeOf,
  sharedVerification,
  WIRING,
} from '../../test/support/verification.ts'
import { createSessionKey, revokeKey } from '../access/keys.ts'
import { HOUR } from '../platform/clock.ts'
import { guardVerificationRoutes } from './guards.ts'

const setUp = sharedVerification()

test('a session is opened, completed in steps and read', async () => {
  const { call, clock, key, openSession, storeSkills, chooseMethod, storeItems, getFullVerification, getVerification } =
    await setUp()

  const openResponse = await call('POST', '/verify', {
    key,
    body: aStudent({ returnUrl: 'https://college.example/done' }),
  })
  assert.equal(openResponse.status, 201)
  assert.equal(openResponse.body.success, true)
  const { sessionToken, serviceVerificationId, serviceUserId, expiresAt } = openResponse.body.data
  assert.match(sessionToken, /^vst_[\w-]{43}$/)
  assert.match(serviceVerificationId, /^SV_[A-Z0-9]{26}$/)
  assert.equal(expiresAt, new Date(clock.now() + 24 * HOUR).toISOString())
  const session = { token: sessionToken, id: serviceVerificationId, userId: serviceUserId }

  const skillsResponse = await storeSkills(session, [BRICKLAYING, WIRING], { endorsementType: 'mentor' })
  assert.deepEqual(skillsResponse.body.data, {
    serviceVerificationId,
    skills: [
      { skillId: BRICKLAYING, name: 'Bricklaying', proofUrl: [] },
      { skillId: WIRING, name: 'House wiring', proofUrl: [] },
    ],
    endorsementType: 'mentor',
  })
  const methodResponse = await chooseMethod(session, 'human')
  assert.deepEqual(methodResponse.body.data, { serviceVerificationId, verificationMethod: 'human' })
  const itemsResponse = await storeItems(session, {
    projectIds: ['p-1'],
    workExperienceIds: ['w-1'],
    credentialIds: ['c-1'],
  })
  assert.equal(itemsResponse.body.data.serviceUserId, serviceUserId)
  const [project] = itemsResponse.body.data.stored.projects
  assert.deepEqual(project, {
    serviceProjectId: project.serviceProjectId,
    externalProjectId: 'p-1',
    projectName: 'School hall',
  })
  const [experience] = itemsResponse.body.data.stored.experience
  assert.deepEqual(experience, {
    serviceExperienceId: experience.serviceExperienceId,
    externalExperienceId: 'w-1',
    companyName: 'Metro Ltd',
    role: 'Fabricator',
  })
  assert.equal(itemsResponse.body.data.stored.certificates[0].certificateName, 'ITI Mason')

  // A second submission replaces the items: others are removed, and chosen ones keep their ID.
  const replaceResponse = await storeItems(session, { projectIds: ['p-1'] })
  assert.deepEqual(replaceResponse.body.data.stored, { projects: [project], experience: [], certificates: [] })

  const sentStudent = aStudent()
  assert.deepEqual(await getFullVerification(session), {
    serviceVerificationId,
    serviceUserId,
    status: 'open',
    verificationMethod: 'human',
    endorsementType: 'mentor',
    student: { externalStudentId: 'stu-1', name: 'Asha Rao', email: 'asha@example.com', phone: '+91 98765 43210' },
    projects: sentStudent.projects,
    workExperiences: sentStudent.workExperiences,
    certificates: sentStudent.certificates,
    skills: skillsResponse.body.data.skills,
    stored: replaceResponse.body.data.stored,
    proofFiles: [],
    reviewer: null,
    expiresAt,
    returnUrl: 'https://college.example/done',
    organisationName: 'Acme Staffing',
  })
  assert.deepEqual(await getVerification(session), {
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
    credentials: [],
  })
  assert.equal((await openSession()).userId, serviceUserId, 'the same student gets the same ID')
  assert.notEqual((await openSession({ externalStudentId: 'stu-2' })).userId, serviceUserId)
})

test('all chosen items of each kind are stored, in the order of the student, and others are not', async () => {
  const { openSession, storeSkills, chooseMethod, storeItems } = await setUp()
  const { projects, workExperiences, certificates } = aStudent()
  const copies = [1, 2, 3]
  const session = await openSession({
    projects: copies.map((n) => ({ ...projects[0], externalProjectId: `p-${n}`, projectName: `Hall ${n}` })),
    workExperiences: copies.map((n) => ({ ...workExperiences[0], externalExperienceId: `w-${n}`, role: `Role ${n}` })),
    certificates: copies.map((n) => ({
      ...certificates[0],
      externalCertificateId: `c-${n}`,
      certificateName: `Trade ${n}`,
    })),
  })
  await storeSkills(session)
  await chooseMethod(session, 'human')
  const { body } = await storeItems(session, {
    projectIds: ['p-3', 'p-1'],
    workExperienceIds: ['w-2', 'w-3'],
    credentialIds: ['c-1', 'c-3'],
  })
  const { stored } = body.data
  assert.deepEqual(
    [
      stored.projects.map(({ projectName }: any) => projectName),
      stored.experience.map(({ role }: any) => role),
      stored.certificates.map(({ certificateName }: any) => certificateName),
    ],
    [
      ['Hall 1', 'Hall 3'],
      ['Role 2', 'Role 3'],
      ['Trade 1', 'Trade 3'],
    ],
  )
  const ids = stored.certificates.map(({ serviceCertificateId }: any) => serviceCertificateId)
  assert.equal(new Set(ids).size, 2)
})

test('POST /verify names every invalid field', async () => {
  const { call, key } = await setUp()
  const tooManyProjects = Array.from({ length: 51 }, (_, i) => ({
    externalProjectId: `p${i}`,
    projectName: 'A project',
  }))
  const cases: [object, RegExp][] = [
    [{ externalStudentId: '' }, /^externalStudentId:/],
    [{ externalStudentId: 'x'.repeat(129) }, /^externalStudentId:/],
    [{ name: ' ' }, /^name:/],
    [{ name: 'x'.repeat(201) }, /^name:/],
    [{ email: 'asha' }, /^email:/],
    [{ email: 'a@b.example\r\nBcc: c@d.example' }, /^email:/],
    [{ email: undefined }, /^email: is required/],
    [{ projects: [], workExperiences: [], certificates: [] }, /^projects:/],
    [{ projects: tooManyProjects }, /^projects: must have at most 50 items/],
    [{ projects: [{ externalProjectId: 'p' }] }, /^projects\[0\]\.projectName: is required/],
    [
      { workExperiences: [{ externalExperienceId: 'w', companyName: 'M' }] },
      /^workExperiences\[0\]\.role: is required/,
    ],
    [
      {
        certificates: [tooManyProjects[0], tooManyProjects[1]].map(() => ({
          externalCertificateId: 'c',
          certificateName: 'C',
        })),
      },
      /^certificates\[1\]\.externalCertificateId: is a duplicate/,
    ],
    [{ returnUrl: 'javascript:alert(1)' }, /^returnUrl:/],
    [{ projects: [{ ...tooManyProjects[0], url: 'file:///etc/passwd' }] }, /^projects\[0\]\.url:/],
    [{ name: 'a\u0000b' }, /^name:/],
  ]
  for (const [changes, message] of cases) {
    const response = await call('POST', '/verify', { key, body: aStudent(changes) })
    assert.equal(outcomeOf(response), '400 VALIDATION_FAILED', JSON.stringify(changes).slice(0, 100))
    assert.match(response.body.error.message, message)
  }
  const { body: twoErrors } = await call('POST', '/verify', {
    key,
    body: aStudent({ externalStudentId: 1, email: 'asha', testClockId: 'TC_nope' }),
  })
  for (const message of [
    'externalStudentId: must be a string; got',
    'email: must be an email address, such as asha@example.com',
    'testClockId: must be a test clock ID such as TC_01HZX…; got "TC_nope"',
  ])
    assert.ok(twoErrors.error.message.includes(message), twoErrors.error.message)
  assert.equal(outcomeOf(await call('POST', '/verify', { key, body: '{' })), '400 VALIDATION_FAILED')
  assert.equal(outcomeOf(await call('POST', '/verify', { key, body: [] })), '400 VALIDATION_FAILED')
  const largeBody = aStudent({ projects: [{ ...tooManyProjects[0], description: 'x'.repeat(262_144) }] })
  assert.equal(outcomeOf(await call('POST', '/verify', { key, body: largeBody })), '413 PAYLOAD_TOO_LARGE')
  const textResponse = await call('POST', '/verify', { key, body: '{}', headers: { 'content-type': 'text/plain' } })
  assert.equal(outcomeOf(textResponse), '415 UNSUPPORTED_MEDIA_TYPE')
})

test('length limits count code points, and unknown properties are ignored', async () => {
  const { call, key, getFullVerification } = await setUp()
  const name = '👷'.repeat(200)
  const response = await call('POST', '/verify', {
    key,
    body: aStudent({ name, externalStudentId: 'क'.repeat(128), surprise: '\u0000', phone: undefined }),
  })
  assert.equal(response.status, 201)
  const { student } = await getFullVerification({ token: response.body.data.sessionToken, id: '', userId: '' })
  assert.equal(student.name, name)
  assert.equal('phone' in student, false)
})

test('calls need a session key or a session token', async () => {
  const { app, call, key, openSession, orgId } = await setUp()
  const session = await openSession()
  const { token, id } = session
  const otherOrg = await app.fixtures.createOrg('Other')
  const otherKey = await app.fixtures.createSessionKey(otherOrg.orgId)
  const testKey = await app.fixtures.createSessionKey(orgId, 'test')
  const step1 = { sessionToken: token, skills: [{ skillId: BRICKLAYING }] }
  const step2 = { serviceVerificationId: id, verificationMethod: 'human' }
  const reviewer = { serviceVerificationId: id, name: 'R', email: 'r@example.com', company: 'M' }
  const routes: [method: string, path: string, body: object | undefined, tokenInHeader: boolean][] = [
    ['POST', '/step1/storeskills/store', step1, false],
    ['POST', '/step2/verification-method', step2, true],
    ['POST', '/step3/store-verification-items/store', { sessionToken: token, projectIds: ['p-1'] }, false],
    ['POST', '/storereviewerdetails/store', reviewer, true],
    ['GET', `/verify/${token}`, undefined, false],
    ['POST', '/assessment/generate', undefined, true],
    ['POST', '/assessment/submit', { answers: [] }, true],
    ['GET', '/skills/search?q=brick', undefined, true],
  ]
  const notFoundOutcomes = new Set(['404 SESSION_NOT_FOUND', '404 VERIFICATION_NOT_FOUND'])
  for (const [method, path, body, tokenInHeader] of routes) {
    const bodyInit = body === undefined ? {} : { body }
    const tokenInit = tokenInHeader ? { token } : {}
    app.clock.advance(1000)
    assert.notEqual(
      (await call(method, path, { ...bodyInit, ...tokenInit })).status,
      401,
      `${path} with the token alone`,
    )
    assert.equal(
      outcomeOf(await call(method, path, { ...bodyInit, ...tokenInit, key: 'VSK_LIVE_wrong' })),
      '401 UNAUTHORIZED',
      path,
    )
    for (const foreignKey of [otherKey, testKey]) {
      const response = await call(method, path, { ...bodyInit, ...tokenInit, key: foreignKey })
      assert.ok(notFoundOutcomes.has(outcomeOf(response)), `${path} with a foreign key: ${outcomeOf(response)}`)
    }
    if (method === 'GET' && !tokenInHeader) continue
    const { sessionToken: _, ...bodyWithoutToken } = (body ?? {}) as { sessionToken?: string }
    const initWithoutToken = body === undefined ? {} : { body: bodyWithoutToken }
    assert.equal(outcomeOf(await call(method, path, initWithoutToken)), '401 UNAUTHORIZED', `${path} with neither`)
    if (path.startsWith('/storereviewer')) continue
    assert.equal(
      outcomeOf(await call(method, path, { ...initWithoutToken, key })),
      '400 MISSING_SESSION_TOKEN',
      `${path}, key alone`,
    )
    const unknownToken = 'vst_unknown'
    const request = tokenInHeader
      ? { ...bodyInit, token: unknownToken }
      : { body: { ...body, sessionToken: unknownToken } }
    assert.equal(outcomeOf(await call(method, path, request)), '404 SESSION_NOT_FOUND', `${path}, unknown token`)
    if (tokenInHeader) {
      const bearerRequest = { ...bodyInit, headers: { authorization: `Bearer ${unknownToken}` } }
      assert.equal(outcomeOf(await call(method, path, bearerRequest)), '404 SESSION_NOT_FOUND', `${path}, as Bearer`)
    }
  }
  assert.equal(outcomeOf(await call('POST', '/verify', { token, body: aStudent() })), '401 UNAUTHORIZED')
  assert.equal(outcomeOf(await call('GET', `/verification/${id}`, { token })), '401 UNAUTHORIZED')
  assert.equal(outcomeOf(await call('GET', `/verification/${id}`, { key: otherKey })), '404 VERIFICATION_NOT_FOUND')
  assert.equal(outcomeOf(await call('GET', '/verification/SV_NOTHING', { key })), '404 VERIFICATION_NOT_FOUND')
  assert.equal(outcomeOf(await call('GET', '/verification/%00', { key })), '404 VERIFICATION_NOT_FOUND')

  // Invalid JSON is reported to authenticated callers only.
  const invalidJson = { body: '{"sessionToken":' }
  assert.equal(
    outcomeOf(await call('POST', '/step1/storeskills/store', { ...invalidJson, key })),
    '400 VALIDATION_FAILED',
  )
  assert.equal(outcomeOf(await call('POST', '/step1/storeskills/store', invalidJson)), '401 UNAUTHORIZED')
})

test('the public routes need no key and ignore one', async () => {
  const { call, requestReview } = await setUp()
  const { session } = await requestReview()
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
  const unknownTokenResponse = await call('GET', '/step3/store-verification-items/vst_no/email')
  assert.equal(outcomeOf(unknownTokenResponse), '404 SESSION_NOT_FOUND')
  const review = { serviceVerificationId: session.id, token: 'no' }
  assert.equal(outcomeOf(await call('POST', '/humanverification/submit', { body: review })), '403 INVALID_TOKEN')
  const wrongKeyResponse = await call('POST', '/humanverification/submit', { key: 'VSK_LIVE_wrong', body: review })
  assert.equal(outcomeOf(wrongKeyResponse), '401 UNAUTHORIZED', 'routes with a token check the key if one is sent')
})

test('a session expires 24 hours after its last step', async () => {
  const { call, clock, openSession, storeSkills, getFullVerification, getVerification } = await setUp()
  const session = await openSession()
  clock.advance(23 * HOUR)
  await expectOk(storeSkills(session))
  clock.advance(24 * HOUR - 1)
  assert.equal((await getFullVerification(session)).status, 'open')
  clock.advance(1)
  assert.equal(outcomeOf(await storeSkills(session)), '404 SESSION_NOT_FOUND')
  assert.equal(outcomeOf(await call('GET', `/verify/${session.token}`)), '404 SESSION_NOT_FOUND')
  const email = await call('GET', `/step3/store-verification-items/${session.token}/email`)
  assert.equal(outcomeOf(email), '404 SESSION_NOT_FOUND')
  assert.equal((await getVerification(session)).status, 'expired')
})

test('rate limits apply by key, by token and by IP address', async () => {
  const { call, clock, key, openSession } = await setUp()
  const { token, id } = await openSession()
  const outcomes: string[] = []
  for (let i = 0; i < 6; i++) outcomes.push(outcomeOf(await call('GET', `/verify/${token}`)))
  assert.deepEqual(outcomes, [...Array(5).fill('200'), '429 RATE_LIMITED'])
  const limitedResponse = await call('GET', `/verify/${token}`)
  assert.equal(limitedResponse.headers.get('retry-after'), '1')
  assert.equal(
    limitedResponse.body.error.message,
    'Too many requests with this session token: the limit is 5 per second (burst 5). Try again in 1 second.',
  )
  assert.equal((await call('GET', `/verify/${token}`, { key })).status, 200, 'a key has its own limits')

  clock.advance(1000)
  const keyResponses = await Promise.all(Array.from({ length: 52 }, () => call('GET', `/verification/${id}`, { key })))
  assert.equal(keyResponses.filter(({ status }) => status === 429).length, 2)

  const addressStatuses: number[] = []
  for (let i = 0; i < 61; i++) addressStatuses.push((await call('GET', `/storereviewerdetails/${id}`)).status)
  assert.deepEqual(addressStatuses, [...Array(60).fill(404), 429])
  assert.equal(
    (await call('POST', '/humanverification/submit', { body: {} })).status,
    429,
    'public routes share the limit by IP address',
  )
  clock.advance(60_000)
  assert.equal((await call('GET', `/storereviewerdetails/${id}`)).status, 404)
})

test("the student's page searches the catalogue", async () => {
  const { call, openSession } = await setUp()
  const { token } = await openSession()
  const { body, status } = await call('GET', '/skills/search?q=bricklay', { token })
  assert.equal(status, 200)
  assert.equal(body.data.skills[0].skillId, BRICKLAYING)
  assert.equal(outcomeOf(await call('GET', '/skills/search?q=b', { token })), '400 VALIDATION_FAILED')
})

test('no token, key or personal address is logged', async () => {
  const { app, call, key, requestReview, submitReview } = await setUp()
  const { session, token } = await requestReview()
  await call('GET', `/verify/${session.token}`)
  await submitReview(session, token, { declined: true, reason: 'I do not know them' })
  const log = app.logLines.join('\n')
  for (const secret of [session.token, token, key, 'asha@example.com', 'ravi.menon']) {
    assert.equal(log.toLowerCase().includes(secret.toLowerCase()), false, secret.slice(0, 8))
  }
  assert.match(log, /\/api\/v1\/verify\/:sessionToken/)
})

test('revoked and expired keys are rejected', async () => {
  const { app, call, clock, key, orgId } = await setUp()
  const { db, keyring } = app.context
  const expiringKey = await db.transaction((tx) =>
    createSessionKey(tx, clock, { orgId, mode: 'live', expiresAt: new Date(clock.now() + HOUR), maxDays: undefined }),
  )
  await keyring.refresh()
  assert.equal((await call('POST', '/verify', { key: expiringKey.key, body: aStudent() })).status, 201)
  clock.advance(HOUR)
  assert.equal(outcomeOf(await call('POST', '/verify', { key: expiringKey.key, body: aStudent() })), '401 UNAUTHORIZED')
  await db.transaction((tx) => revokeKey(tx, clock, key))
  await keyring.refresh()
  assert.equal(outcomeOf(await call('POST', '/verify', { key, body: aStudent() })), '401 UNAUTHORIZED')
})

test('a route without an auth method cannot be registered', () => {
  const app = fastify()
  guardVerificationRoutes(app as never, {} as never)
  assert.throws(() => app.get('/samples', async () => ''), /GET \/samples must declare its auth method/)
})
