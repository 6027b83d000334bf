import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createPartner } from '../../test/support/partners.ts'
import { BRICKLAYING, expectOk, sharedVerification, WIRING } from '../../test/support/verification.ts'

const setUp = sharedVerification()

test('the exports of a student and of a reviewer have the values of each session and review', async () => {
  const calls = await setUp()
  const partner = await createPartner(calls.app, calls.scope.mode, calls.orgId)
  const records = async (email: string, section: string): Promise<any[]> => {
    const people = await partner.get(`/people?email=${encodeURIComponent(email)}`)
    const { person_id } = people.body.data.items[0]
    const { sections } = (await partner.get(`/people/${person_id}/export`)).body.data
    return sections.find(({ name }: { name: string }) => name === section)?.records ?? []
  }
  const student = { externalStudentId: 'stu-export', email: 'export-student@example.com' }
  const reviewer = { email: 'export-reviewer@example.com' }
  const declined = await calls.requestReview({ student, reviewer })
  const reason = 'I left before they joined'
  await expectOk(calls.submitReview(declined.session, declined.token, { declined: true, reason }))
  const endorsed = await calls.requestReview({ student, reviewer })
  const decisions = [{ skillId: BRICKLAYING, endorsed: true, comment: 'Careful work' }]
  await expectOk(calls.submitReview(endorsed.session, endorsed.token, { decisions }))
  const assessed = await calls.openPreparedSession('assessment', { student, skills: [WIRING] })
  await expectOk(calls.generateAssessment(assessed))
  calls.clock.advance(60_000)
  await calls.submitAnswers(assessed, [])

  const exported = await records(student.email, 'verifications')
  assert.equal(exported.length, 3)
  const sessions = [declined.session, endorsed.session, assessed].map(
    ({ id }) => exported.find(({ verification_id }) => verification_id === id)!,
  )
  assert.deepEqual(
    sessions.map((each) => [each.email, each.method, each.status, each.decline_reason]),
    [
      [student.email, 'human', 'declined', reason],
      [student.email, 'human', 'completed', null],
      [student.email, 'assessment', 'in_assessment', null],
    ],
  )
  assert.deepEqual([sessions[0].decisions, sessions[0].assessments, sessions[0].files], [[], [], []])
  assert.match(JSON.stringify(sessions[1].decisions), /Careful work/)
  const [attempt] = sessions[2].assessments
  assert.deepEqual([attempt.correct, attempt.passed], [0, false])
  assert.equal(Date.parse(attempt.submitted_at) - Date.parse(attempt.started_at), 60_000)
  assert.deepEqual(await records(student.email, 'reviews'), [])

  const reviews = await records(reviewer.email, 'reviews')
  assert.equal(reviews.length, 2)
  for (const [session, expectedReason, decisionCount] of [
    [declined.session, reason, 0],
    [endorsed.session, null, 1],
  ] as const) {
    const review = reviews.find(({ verification_id }) => verification_id === session.id)!
    assert.deepEqual(
      [review.email, review.company, review.decline_reason, review.decisions.length],
      [reviewer.email, 'Metro Ltd', expectedReason, decisionCount],
    )
  }
  assert.deepEqual(await records(reviewer.email, 'verifications'), [])
})
