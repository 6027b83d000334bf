import assert from 'node:assert/strict'
import { test } from 'node:test'
import { BRICKLAYING, type Calls, ok, outcome, shareVerification, WIRING } from '../../test/support/verification.ts'

const skill = (number: number) => `sk_${number}`
const tenSkills = Array.from({ length: 10 }, (_, index) => skill(1001 + index))

/** A verification that somebody has endorsed, all skills but those in `but`. */
async function endorsedOnce(calls: Calls, options: Parameters<Calls['requested']>[0] & { but?: string[] } = {}) {
  const { session, token } = await calls.requested(options)
  const skills = options.skills ?? [BRICKLAYING]
  const decisions = skills.map((skillId) => ({ skillId, endorsed: !options.but?.includes(skillId) }))
  await ok(calls.submitReview(session, token, { decisions }))
  return session
}

const given = await shareVerification()

test('step 1 takes 1 to 10 different skills of the catalogue', async () => {
  const calls = await given()
  const session = await calls.open()
  const proof = (proofUrl: unknown) =>
    calls.skills(session, [], { skills: [{ skillId: BRICKLAYING, proofUrl }] }).then(outcome)
  assert.equal(outcome(await calls.skills(session, [], { skills: undefined })), '400 NO_SKILLS')
  assert.equal(outcome(await calls.skills(session, [])), '400 NO_SKILLS')
  assert.equal(outcome(await calls.skills(session, [], { skills: 'sk_1001' })), '400 VALIDATION_FAILED')
  const unknown = await calls.skills(session, [BRICKLAYING, 'sk_999999999'])
  assert.equal(outcome(unknown), '400 INVALID_SKILL')
  assert.match(unknown.body.error.message, /sk_999999999/)
  assert.equal(outcome(await calls.skills(session, ['bricklaying'])), '400 INVALID_SKILL')
  assert.equal(outcome(await calls.skills(session, [WIRING, WIRING])), '400 INVALID_SKILL')
  assert.equal(outcome(await calls.skills(session, [...tenSkills, WIRING])), '409 MAX_SKILLS_PER_SOURCE')
  assert.equal(outcome(await calls.skills(session, [WIRING], { endorsementType: 'uncle' })), '400 VALIDATION_FAILED')
  assert.equal(await proof(Array(6).fill('https://a.example')), '400 VALIDATION_FAILED')
  assert.equal(await proof(['ftp://a.example']), '400 VALIDATION_FAILED')
  assert.equal(await proof('https://a.example'), '400 VALIDATION_FAILED')
  assert.equal(await proof(Array(5).fill('https://a.example/photo?x=1')), '200')
  assert.deepEqual((await calls.full(session)).skills[0].proofUrl, Array(5).fill('https://a.example/photo?x=1'))
  assert.equal(outcome(await calls.skills(session, tenSkills)), '200')
  assert.deepEqual(
    (await calls.full(session)).skills.map(({ skillId }: { skillId: string }) => skillId),
    tenSkills,
    'replaced',
  )
})

test('what step 2 refuses, in its order', async () => {
  const calls = await given()
  const session = await calls.open()
  const other = await calls.open()
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
    'step 1 is not insisted on',
  )
  assert.equal(await choose({ serviceVerificationId: id, verificationMethod: 'assessment' }), '200', 'changed')
})

test('what step 3 refuses, in its order', async () => {
  const calls = await given()
  const session = await calls.open()
  assert.equal(outcome(await calls.items(session, {})), '400 NO_ITEMS_SELECTED')
  assert.equal(outcome(await calls.items(session, { projectIds: [], credentialIds: [] })), '400 NO_ITEMS_SELECTED')
  assert.equal(outcome(await calls.items({ ...session, token: 'vst_no' })), '404 SESSION_NOT_FOUND')
  assert.equal(outcome(await calls.items(session)), '400 VERIFICATION_METHOD_NOT_SET')
  await ok(calls.method(session, 'human'))
  assert.equal(outcome(await calls.items(session, { projectIds: 'p-1' })), '400 VALIDATION_FAILED')
  assert.equal(outcome(await calls.items(session, { projectIds: [5] })), '400 VALIDATION_FAILED')
  const unknown = await calls.items(session, { projectIds: ['p-1'], credentialIds: ['p-1'] })
  assert.equal(outcome(unknown), '400 UNKNOWN_ITEM')
  assert.match(unknown.body.error.message, /credentialIds: "p-1"/)
  assert.deepEqual((await calls.full(session)).stored.projects, [], 'nothing is stored')
  const twice = await calls.items(session, { projectIds: ['p-1', 'p-1'] })
  assert.equal(twice.body.data.stored.projects.length, 1)
})

test('a skill is endorsed once for a source under a type', async () => {
  const calls = await given()
  await endorsedOnce(calls, { skills: [BRICKLAYING, WIRING], but: [WIRING] })
  const reviewer = { email: 'second@metro.example' }

  const again = await calls.open()
  await ok(calls.skills(again, [WIRING, BRICKLAYING]))
  await ok(calls.method(again, 'human'))
  const refused = await calls.items(again)
  assert.equal(outcome(refused), '409 DUPLICATE_SKILLS_IN_BUNDLE')
  assert.match(refused.body.error.message, /sk_1001/)
  assert.equal(outcome(await calls.items(again, { projectIds: ['p-1'] })), '200', 'another source')
  await calls.requested({ skills: [WIRING], reviewer })
  await calls.requested({ type: 'peer', reviewer: { email: 'third@metro.example' } })
  await calls.requested({ student: { externalStudentId: 'stu-2' } })
})

test('a source takes ten skills, endorsed or awaiting review', async () => {
  const calls = await given()
  const first = tenSkills.slice(0, 6)
  await endorsedOnce(calls, { skills: first, but: [first[0]!] }) // five are endorsed
  const awaited = await calls.requested({
    skills: tenSkills.slice(6, 9),
    type: 'peer',
    reviewer: { email: 'b@m.example' },
  })

  const third = await calls.open()
  await ok(calls.method(third, 'human'))
  await ok(calls.skills(third, [skill(1050), skill(1051), skill(1052)], { endorsementType: 'client' }))
  assert.equal(outcome(await calls.items(third)), '409 MAX_SKILLS_PER_SOURCE')
  await ok(calls.skills(third, [skill(1050), skill(1051), tenSkills[6]!], { endorsementType: 'client' }))
  assert.equal(outcome(await calls.items(third)), '200', 'the same skill counts once')
  await ok(calls.submitReview(awaited.session, awaited.token, { declined: true, reason: 'No' }))
  await ok(calls.skills(third, [1050, 1051, 1052, 1053, 1054].map(skill), { endorsementType: 'client' }))
  assert.equal(outcome(await calls.items(third)), '200', 'what was declined does not count')
})

test('a reviewer serves one source under one type', async () => {
  const calls = await given()
  await calls.requested() // manager
  const peer = await calls.prepared('human', { type: 'peer' })
  assert.equal(outcome(await calls.reviewer(peer)), '409 DUPLICATE_REVIEWER_EMAIL')
  await ok(calls.items(peer, { projectIds: ['p-1'] }))
  await ok(calls.reviewer(peer))

  // Stored before the source is chosen, it is looked at again in step 3.
  const early = await calls.open()
  await ok(calls.skills(early, [WIRING], { endorsementType: 'mentor' }))
  await ok(calls.method(early, 'human'))
  await ok(calls.reviewer(early))
  assert.equal(outcome(await calls.items(early)), '409 DUPLICATE_REVIEWER_EMAIL')
  assert.equal(outcome(await calls.items(early, { credentialIds: ['c-1'] })), '200')

  // Under the same type the same person may review other skills.
  await calls.requested({ skills: [WIRING] })
})

test('replaced and declining reviewers are free again', async () => {
  const calls = await given()
  const { session, token } = await calls.requested()
  await ok(calls.reviewer(session, { email: 'second@metro.example' }))
  const peer = await calls.requested({ type: 'peer' })
  await ok(calls.submitReview(peer.session, peer.token, { declined: true, reason: 'No' }))
  await calls.requested({ type: 'client' })
  assert.notEqual(token, peer.token)
})

test('two sessions at once cannot evade the rules of a source', async () => {
  const calls = await given()
  const sessions = []
  for (const [index, type] of ['manager', 'peer', 'client', 'mentor'].entries()) {
    const skills = tenSkills.slice(0, 4).map((_, at) => skill(1001 + index * 4 + at))
    sessions.push(await calls.prepared('human', { skills, type }))
  }
  const mails = await Promise.all(sessions.map((each, index) => calls.reviewer(each, { email: `r${index}@m.example` })))
  assert.deepEqual(mails.map(outcome).sort(), ['200', '200', '409 MAX_SKILLS_PER_SOURCE', '409 MAX_SKILLS_PER_SOURCE'])

  const others = []
  for (const type of ['manager', 'peer', 'client']) {
    others.push(await calls.prepared('human', { type, student: { externalStudentId: 'stu-2' } }))
  }
  const same = await Promise.all(others.map((each) => calls.reviewer(each)))
  assert.deepEqual(same.map(outcome).sort(), ['200', '409 DUPLICATE_REVIEWER_EMAIL', '409 DUPLICATE_REVIEWER_EMAIL'])
})
