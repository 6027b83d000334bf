import assert from 'node:assert/strict'
import { test } from 'node:test'
import {
  BRICKLAYING,
  expectOk,
  outcome,
  sharedVerification,
  type VerificationCalls,
  WIRING,
} from '../../test/support/verification.ts'

const skill = (number: number) => `sk_${number}`
const tenSkills = Array.from({ length: 10 }, (_, index) => skill(1001 + index))

/** Completes a review that endorses all skills except those in `but`. */
async function completeReview(
  calls: VerificationCalls,
  options: { skills?: string[]; student?: object; type?: string; but?: string[] } = {},
) {
  const { session, token } = await calls.requestReview(options)
  const skills = options.skills ?? [BRICKLAYING]
  const decisions = skills.map((skillId) => ({ skillId, endorsed: !options.but?.includes(skillId) }))
  await expectOk(calls.submitReview(session, token, { decisions }))
  return session
}

const setUp = sharedVerification()

test('step 1 accepts 1 to 10 different catalogue skills', async () => {
  const calls = await setUp()
  const session = await calls.openSession()
  const proof = (proofUrl: unknown) =>
    calls.storeSkills(session, [], { skills: [{ skillId: BRICKLAYING, proofUrl }] }).then(outcome)
  assert.equal(outcome(await calls.storeSkills(session, [], { skills: undefined })), '400 NO_SKILLS')
  assert.equal(outcome(await calls.storeSkills(session, [])), '400 NO_SKILLS')
  assert.equal(outcome(await calls.storeSkills(session, [], { skills: 'sk_1001' })), '400 VALIDATION_FAILED')
  const unknown = await calls.storeSkills(session, [BRICKLAYING, 'sk_999999999'])
  assert.equal(outcome(unknown), '400 INVALID_SKILL')
  assert.match(unknown.body.error.message, /sk_999999999/)
  assert.equal(outcome(await calls.storeSkills(session, ['bricklaying'])), '400 INVALID_SKILL')
  assert.equal(outcome(await calls.storeSkills(session, [WIRING, WIRING])), '400 INVALID_SKILL')
  assert.equal(outcome(await calls.storeSkills(session, [...tenSkills, WIRING])), '409 MAX_SKILLS_PER_SOURCE')
  assert.equal(
    outcome(await calls.storeSkills(session, [WIRING], { endorsementType: 'uncle' })),
    '400 VALIDATION_FAILED',
  )
  assert.equal(await proof(Array(6).fill('https://a.example')), '400 VALIDATION_FAILED')
  assert.equal(await proof(['ftp://a.example']), '400 VALIDATION_FAILED')
  assert.equal(await proof('https://a.example'), '400 VALIDATION_FAILED')
  assert.equal(await proof(Array(5).fill('https://a.example/photo?x=1')), '200')
  assert.deepEqual(
    (await calls.getFullVerification(session)).skills[0].proofUrl,
    Array(5).fill('https://a.example/photo?x=1'),
  )
  assert.equal(outcome(await calls.storeSkills(session, tenSkills)), '200')
  assert.deepEqual(
    (await calls.getFullVerification(session)).skills.map(({ skillId }: { skillId: string }) => skillId),
    tenSkills,
    'replaced',
  )
})

test('step 2 reports errors in the documented order', async () => {
  const calls = await setUp()
  const session = await calls.openSession()
  const other = await calls.openSession()
  const choose = (body: object) =>
    calls.call('POST', '/step2/verification-method', { key: calls.key, token: session.token, body }).then(outcome)
  const { id } = session
  assert.equal(await choose({}), '400 MISSING_VERIFICATION_ID')
  assert.equal(await choose({ serviceVerificationId: id }), '400 MISSING_VERIFICATION_METHOD')
  assert.equal(
    await choose({ serviceVerificationId: 'x', verificationMethod: 'magic' }),
    '400 INVALID_VERIFICATION_METHOD',
  )
  assert.equal(await choose({ serviceVerificationId: id, verificationMethod: 5 }), '400 INVALID_VERIFICATION_METHOD')
  assert.equal(
    await choose({ serviceVerificationId: other.id, verificationMethod: 'human' }),
    '404 VERIFICATION_NOT_FOUND',
  )
  assert.equal(
    await choose({ serviceVerificationId: id, verificationMethod: 'human' }),
    '200',
    'step 1 is not required first',
  )
  assert.equal(await choose({ serviceVerificationId: id, verificationMethod: 'assessment' }), '200', 'changed')
})

test('step 3 reports errors in the documented order', async () => {
  const calls = await setUp()
  const session = await calls.openSession()
  assert.equal(outcome(await calls.storeItems(session, {})), '400 NO_ITEMS_SELECTED')
  assert.equal(outcome(await calls.storeItems(session, { projectIds: [], credentialIds: [] })), '400 NO_ITEMS_SELECTED')
  assert.equal(outcome(await calls.storeItems({ ...session, token: 'vst_no' })), '404 SESSION_NOT_FOUND')
  assert.equal(outcome(await calls.storeItems(session)), '400 VERIFICATION_METHOD_NOT_SET')
  await expectOk(calls.chooseMethod(session, 'human'))
  assert.equal(outcome(await calls.storeItems(session, { projectIds: 'p-1' })), '400 VALIDATION_FAILED')
  assert.equal(outcome(await calls.storeItems(session, { projectIds: [5] })), '400 VALIDATION_FAILED')
  const unknown = await calls.storeItems(session, { projectIds: ['p-1'], credentialIds: ['p-1'] })
  assert.equal(outcome(unknown), '400 UNKNOWN_ITEM')
  assert.match(unknown.body.error.message, /credentialIds: "p-1"/)
  assert.deepEqual((await calls.getFullVerification(session)).stored.projects, [], 'nothing is stored')
  const twice = await calls.storeItems(session, { projectIds: ['p-1', 'p-1'] })
  assert.equal(twice.body.data.stored.projects.length, 1)
})

test('a skill is endorsed once per source and endorsement type', async () => {
  const calls = await setUp()
  await completeReview(calls, { skills: [BRICKLAYING, WIRING], but: [WIRING] })
  const reviewer = { email: 'second@metro.example' }

  const secondSession = await calls.openSession()
  await expectOk(calls.storeSkills(secondSession, [WIRING, BRICKLAYING]))
  await expectOk(calls.chooseMethod(secondSession, 'human'))
  const rejected = await calls.storeItems(secondSession)
  assert.equal(outcome(rejected), '409 DUPLICATE_SKILLS_IN_BUNDLE')
  assert.match(rejected.body.error.message, /sk_1001/)
  assert.equal(outcome(await calls.storeItems(secondSession, { projectIds: ['p-1'] })), '200', 'another source')
  await calls.requestReview({ skills: [WIRING], reviewer })
  await calls.requestReview({ type: 'peer', reviewer: { email: 'third@metro.example' } })
  await calls.requestReview({ student: { externalStudentId: 'stu-2' } })
})

test('a source can have ten skills, endorsed or pending review', async () => {
  const calls = await setUp()
  const first = tenSkills.slice(0, 6)
  await completeReview(calls, { skills: first, but: [first[0]!] }) // five are endorsed
  const pending = await calls.requestReview({
    skills: tenSkills.slice(6, 9),
    type: 'peer',
    reviewer: { email: 'b@m.example' },
  })

  const third = await calls.openSession()
  await expectOk(calls.chooseMethod(third, 'human'))
  await expectOk(calls.storeSkills(third, [skill(1050), skill(1051), skill(1052)], { endorsementType: 'client' }))
  assert.equal(outcome(await calls.storeItems(third)), '409 MAX_SKILLS_PER_SOURCE')
  await expectOk(calls.storeSkills(third, [skill(1050), skill(1051), tenSkills[6]!], { endorsementType: 'client' }))
  assert.equal(outcome(await calls.storeItems(third)), '200', 'the same skill counts once')
  await expectOk(calls.submitReview(pending.session, pending.token, { declined: true, reason: 'No' }))
  await expectOk(calls.storeSkills(third, [1050, 1051, 1052, 1053, 1054].map(skill), { endorsementType: 'client' }))
  assert.equal(outcome(await calls.storeItems(third)), '200', 'skills of a declined review do not count')
})

test('a reviewer reviews a source under one endorsement type only', async () => {
  const calls = await setUp()
  await calls.requestReview() // manager
  const peer = await calls.openPreparedSession('human', { type: 'peer' })
  assert.equal(outcome(await calls.storeReviewer(peer)), '409 DUPLICATE_REVIEWER_EMAIL')
  await expectOk(calls.storeItems(peer, { projectIds: ['p-1'] }))
  await expectOk(calls.storeReviewer(peer))

  // A reviewer stored before the source is chosen is checked again in step 3.
  const early = await calls.openSession()
  await expectOk(calls.storeSkills(early, [WIRING], { endorsementType: 'mentor' }))
  await expectOk(calls.chooseMethod(early, 'human'))
  await expectOk(calls.storeReviewer(early))
  assert.equal(outcome(await calls.storeItems(early)), '409 DUPLICATE_REVIEWER_EMAIL')
  assert.equal(outcome(await calls.storeItems(early, { credentialIds: ['c-1'] })), '200')

  // Under the same type the same person may review other skills.
  await calls.requestReview({ skills: [WIRING] })
})

test('replaced and declining reviewers can be named again', async () => {
  const calls = await setUp()
  const { session, token } = await calls.requestReview()
  await expectOk(calls.storeReviewer(session, { email: 'second@metro.example' }))
  const peer = await calls.requestReview({ type: 'peer' })
  await expectOk(calls.submitReview(peer.session, peer.token, { declined: true, reason: 'No' }))
  await calls.requestReview({ type: 'client' })
  assert.notEqual(token, peer.token)
})

test('concurrent sessions cannot bypass the rules of a source', async () => {
  const calls = await setUp()
  const sessions = []
  for (const [index, type] of ['manager', 'peer', 'client', 'mentor'].entries()) {
    const skills = tenSkills.slice(0, 4).map((_, at) => skill(1001 + index * 4 + at))
    sessions.push(await calls.openPreparedSession('human', { skills, type }))
  }
  const responses = await Promise.all(
    sessions.map((each, index) => calls.storeReviewer(each, { email: `r${index}@m.example` })),
  )
  assert.deepEqual(responses.map(outcome).sort(), [
    '200',
    '200',
    '409 MAX_SKILLS_PER_SOURCE',
    '409 MAX_SKILLS_PER_SOURCE',
  ])

  const others = []
  for (const type of ['manager', 'peer', 'client']) {
    others.push(await calls.openPreparedSession('human', { type, student: { externalStudentId: 'stu-2' } }))
  }
  const same = await Promise.all(others.map((each) => calls.storeReviewer(each)))
  assert.deepEqual(same.map(outcome).sort(), ['200', '409 DUPLICATE_REVIEWER_EMAIL', '409 DUPLICATE_REVIEWER_EMAIL'])
})
