import { test } from 'node:test'
import { setAllowedAddresses } from '../../../server/access/keys.ts'
import { switchService } from '../../../server/access/service-switch.ts'
import { verificationErrorCodes } from '../../../server/api/problem.ts'
import { suppressMailbox } from '../../../server/mail/suppressions.ts'
import { erasePerson } from '../../../server/people/erasure.ts'
import { DAY, HOUR } from '../../../server/platform/clock.ts'
import { findVerification } from '../../../server/verification/sessions.ts'
import { startApp, type TestApp } from '../../support/app.ts'
import { oncePerFile } from '../../support/cleanup.ts'
import { fakeItemWriter } from '../../support/fake-item-writer.ts'
import { aPng } from '../../support/proof-files.ts'
import { answerQuestions, type TestSession, verificationCalls, WIRING } from '../../support/verification.ts'
import { addBrokenRoute, assertExample, makeDatabaseReadOnly, type Provocations } from './compare.ts'

const mailLimits = { perRecipient: 1000, perOrganisation: 1000 }
const getApp = oncePerFile((t) => startApp(t, { config: { mailLimits }, extend: addBrokenRoute('/api/v1/broken') }))
const getHttpsApp = oncePerFile((t) => startApp(t, { config: { requireHttps: true } }))
const getReadOnlyApp = oncePerFile((t) => startApp(t))

/** Returns the calls of a new organisation, and moves the clock so that rate limits are reset. */
async function newCalls(app?: TestApp) {
  const usedApp = app ?? (await getApp())
  usedApp.clock.advance(61_000)
  const { orgId } = await usedApp.fixtures.createOrg()
  return verificationCalls(usedApp, orgId, await usedApp.fixtures.createSessionKey(orgId))
}

type Calls = Awaited<ReturnType<typeof newCalls>>

const skillIds = (count: number) => Array.from({ length: count }, (_, index) => `sk_${1001 + index}`)
const UNKNOWN_ID = 'SV_01KKDSD0J0P26SYTR42FVC31EM'
const DECLINE = { declined: true, reason: 'No time' }

async function withReviewer(changes: object) {
  const calls = await newCalls()
  return calls.storeReviewer(await calls.openPreparedSession('human'), changes)
}

function addFile({ call }: Calls, { token }: TestSession, content: Buffer) {
  const source = { sourceType: 'experience', externalId: 'w-1', name: 'wall.png' }
  return call('POST', `/verify/${token}/files`, { body: { ...source, content: content.toString('base64') } })
}

async function withMethod(body: object) {
  const calls = await newCalls()
  const { token, id } = await calls.openSession()
  const { key } = calls
  return calls.call('POST', '/step2/verification-method', {
    key,
    token,
    body: { serviceVerificationId: id, ...body },
  })
}

async function passAssessment(calls: Calls): Promise<TestSession> {
  const session = await calls.openPreparedSession('assessment', { skills: [WIRING] })
  await calls.submitAnswers(session, await answerQuestions(calls, session))
  return session
}

async function endorse(calls: Calls) {
  const { session, token } = await calls.requestReview({ skills: [WIRING] })
  await calls.submitReview(session, token, { decisions: [{ skillId: WIRING, endorsed: true, rating: 4 }] })
  return { session, token }
}

const provocations: Provocations<typeof verificationErrorCodes> = {
  VALIDATION_FAILED: async () => {
    const calls = await newCalls()
    const { token } = await calls.openSession()
    return calls.call('GET', '/skills/search?q=wall&limit=1000', { token })
  },
  MISSING_VERIFICATION_ID: () => withMethod({ serviceVerificationId: undefined, verificationMethod: 'human' }),
  MISSING_VERIFICATION_METHOD: () => withMethod({}),
  INVALID_VERIFICATION_METHOD: () => withMethod({ verificationMethod: 'guess' }),
  MISSING_SESSION_TOKEN: async () => {
    const { call, key } = await newCalls()
    return call('GET', '/skills/search?q=wall', { key })
  },
  NO_ITEMS_SELECTED: async () => {
    const calls = await newCalls()
    return calls.storeItems(await calls.openPreparedSession('human'), {})
  },
  UNKNOWN_ITEM: async () => {
    const calls = await newCalls()
    return calls.storeItems(await calls.openPreparedSession('human'), { projectIds: ['prj-9'] })
  },
  VERIFICATION_METHOD_NOT_SET: async () => {
    const calls = await newCalls()
    return calls.storeItems(await calls.openSession())
  },
  MISSING_NAME: () => withReviewer({ name: undefined }),
  MISSING_EMAIL: () => withReviewer({ email: undefined }),
  MISSING_COMPANY: () => withReviewer({ company: undefined }),
  INVALID_EMAIL: () => withReviewer({ email: 'ravi' }),
  INVALID_FILE: async () => {
    const calls = await newCalls()
    return addFile(calls, await calls.openSession(), Buffer.from('hello'))
  },
  INVALID_WEBSITE: () => withReviewer({ website: 'metro' }),
  INVALID_SKILL: async () => {
    const calls = await newCalls()
    return calls.storeSkills(await calls.openSession(), ['sk_9'])
  },
  INVALID_VERIFICATION_TYPE: async () => {
    const calls = await newCalls()
    return calls.storeReviewer(await calls.openPreparedSession('assessment'))
  },
  NO_DATA: async () => {
    const calls = await newCalls()
    const session = await calls.openSession()
    await calls.storeSkills(session)
    await calls.chooseMethod(session, 'assessment')
    return calls.generateAssessment(session)
  },
  NO_SKILLS: async () => {
    const calls = await newCalls()
    return calls.storeSkills(await calls.openSession(), [])
  },
  UNAUTHORIZED: async () => (await newCalls()).call('POST', '/verify', { body: {} }),
  FORBIDDEN: async () => {
    const { app, key, call } = await newCalls()
    await app.context.db.transaction((tx) => setAllowedAddresses(tx, key.slice(0, 19), ['198.51.100.0/24']))
    await app.context.keyring.refresh()
    return call('POST', '/verify', { key, body: {} })
  },
  HTTPS_REQUIRED: async () => (await getHttpsApp()).fetch('/api/v1/verify/vst_x'),
  ASSESSMENT_LOCKED: async () => {
    const calls = await newCalls()
    return calls.generateAssessment(await passAssessment(calls))
  },
  ATTEMPTS_EXHAUSTED: async () => {
    const calls = await newCalls()
    const session = await calls.openPreparedSession('assessment')
    for (let attempt = 0; attempt < 3; attempt++) {
      await calls.generateAssessment(session)
      await calls.submitAnswers(session, [])
    }
    return calls.generateAssessment(session)
  },
  INVALID_TOKEN: async () => {
    const calls = await newCalls()
    const { session } = await calls.requestReview()
    return calls.submitReview(session, 'vrt_wrong', DECLINE)
  },
  NOT_FOUND: async () => {
    const calls = await newCalls()
    const { id } = await calls.openPreparedSession('human')
    return calls.call('GET', `/storereviewerdetails/${id}`)
  },
  SESSION_NOT_FOUND: async () => (await newCalls()).call('GET', '/verify/vst_unknown'),
  VERIFICATION_NOT_FOUND: async () => {
    const { call, key } = await newCalls()
    return call('GET', `/verification/${UNKNOWN_ID}`, { key })
  },
  ALREADY_SUBMITTED: async () => {
    const calls = await newCalls()
    const { session, token } = await endorse(calls)
    return calls.submitReview(session, token, DECLINE)
  },
  ASSESSMENT_ALREADY_PASSED: async () => {
    const calls = await newCalls()
    await passAssessment(calls)
    const session = await calls.openSession()
    await calls.storeSkills(session, [WIRING])
    await calls.chooseMethod(session, 'assessment')
    return calls.storeItems(session)
  },
  ASSESSMENT_EXPIRED: async () => {
    const calls = await newCalls()
    const session = await calls.openPreparedSession('assessment')
    const answers = await answerQuestions(calls, session)
    calls.clock.advance(5 * HOUR)
    return calls.submitAnswers(session, answers)
  },
  DUPLICATE_REVIEWER_EMAIL: async () => {
    const calls = await newCalls()
    await calls.requestReview()
    return calls.storeReviewer(await calls.openPreparedSession('human', { type: 'peer' }))
  },
  DUPLICATE_SKILLS_IN_BUNDLE: async () => {
    const calls = await newCalls()
    await endorse(calls)
    const session = await calls.openSession()
    await calls.storeSkills(session, [WIRING])
    await calls.chooseMethod(session, 'human')
    return calls.storeItems(session)
  },
  MAX_SKILLS_PER_SOURCE: async () => {
    const calls = await newCalls()
    return calls.storeSkills(await calls.openSession(), skillIds(11))
  },
  NOTHING_TO_WITHDRAW: async () => {
    const calls = await newCalls()
    const { session, token } = await calls.requestReview()
    const body = { serviceVerificationId: session.id, token, reason: 'A mistake' }
    return calls.call('POST', '/humanverification/withdraw', { body })
  },
  NO_OPEN_ATTEMPT: async () => {
    const calls = await newCalls()
    return calls.submitAnswers(await calls.openPreparedSession('assessment'), [])
  },
  REVIEWER_UNREACHABLE: async () => {
    const calls = await newCalls()
    await suppressReviewer(calls, 'gone@metro.example')
    return calls.storeReviewer(await calls.openPreparedSession('human'), { email: 'gone@metro.example' })
  },
  SESSION_LOCKED: async () => {
    const calls = await newCalls()
    const { session } = await calls.requestReview()
    return calls.storeSkills(session)
  },
  TOO_MANY_FILES: async () => {
    const calls = await newCalls()
    const session = await calls.openSession()
    for (let count = 0; count < 5; count++) {
      await addFile(calls, session, aPng())
      calls.clock.advance(1000)
    }
    return addFile(calls, session, aPng())
  },
  TOO_MANY_REVIEWERS: async () => {
    const calls = await newCalls()
    const { session } = await calls.requestReview()
    for (const name of ['second', 'third']) await calls.storeReviewer(session, { email: `${name}@metro.example` })
    return calls.storeReviewer(session, { email: 'fourth@metro.example' })
  },
  DATA_ERASED: async () => {
    const calls = await newCalls()
    const { session } = await calls.requestReview()
    const { context } = calls.app
    const erasure = { basis: 'GDPR Article 17', requestedBy: 'the person' }
    await context.db.transaction(async (tx) => {
      const { personId } = (await findVerification(tx, context.clock, session.id))!
      await erasePerson(tx, context, calls.scope, personId, erasure)
    })
    return calls.getReviewPage(session)
  },
  LINK_EXPIRED: async () => {
    const calls = await newCalls()
    const { session, token } = await calls.requestReview()
    calls.clock.advance(60 * DAY)
    return calls.submitReview(session, token, DECLINE)
  },
  PAYLOAD_TOO_LARGE: async () => {
    const { call, key } = await newCalls()
    return call('POST', '/verify', { key, body: { name: 'x'.repeat(300_000) } })
  },
  UNSUPPORTED_MEDIA_TYPE: async () => {
    const { call, key } = await newCalls()
    return call('POST', '/verify', { key, body: '{}', headers: { 'content-type': 'text/plain' } })
  },
  RATE_LIMITED: async () => {
    const calls = await newCalls()
    const { token } = await calls.openSession()
    for (let request = 0; request < 5; request++) await calls.call('GET', `/verify/${token}`)
    return calls.call('GET', `/verify/${token}`)
  },
  GENERATION_FAILED: async () => {
    const calls = await newCalls()
    const session = await calls.openPreparedSession('assessment')
    const { context } = calls.app
    const { writer } = context
    context.writer = fakeItemWriter({
      writeItems: async () => {
        throw new Error('no answer')
      },
    })
    const response = await calls.generateAssessment(session)
    context.writer = writer
    return response
  },
  INTERNAL_ERROR: async () => (await getApp()).fetch('/api/v1/broken'),
  SERVICE_DISABLED: async () => {
    const { app, orgId, key, call } = await newCalls()
    const change = { orgId, state: 'off', reason: 'Unpaid' } as const
    await app.context.db.transaction((tx) => switchService(tx, app.clock, change))
    await app.context.keyring.refresh()
    return call('POST', '/verify', { key, body: {} })
  },
  SERVICE_UNAVAILABLE: async () => {
    const app = await getReadOnlyApp()
    const calls = await newCalls(app)
    const session = await calls.openSession()
    await makeDatabaseReadOnly(app)
    return calls.storeSkills(session)
  },
}

for (const [code, provoke] of Object.entries(provocations)) {
  test(`the example of ${code} in the verification API equals the response of the server`, () =>
    assertExample('verification', code, verificationErrorCodes[code as keyof typeof verificationErrorCodes], provoke))
}

async function suppressReviewer({ app }: Calls, email: string): Promise<void> {
  await app.context.db.transaction((tx) =>
    suppressMailbox(tx, app.context, { address: email, audience: 'all', reason: 'operator' }),
  )
}
