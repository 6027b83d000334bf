import assert from 'node:assert/strict'
import { test } from 'node:test'
import { startApp } from '../../../test/support/app.ts'
import { signInMember } from '../../../test/support/console.ts'
import { endorseStudent, outcomeOf, verificationCalls } from '../../../test/support/verification.ts'

test('an owner withdraws an endorsement; a verification without one cannot be withdrawn', async (t) => {
  const app = await startApp(t)
  const { orgId } = await app.fixtures.createOrg()
  const calls = verificationCalls(app, orgId, await app.fixtures.createSessionKey(orgId, 'test'), 'test')
  const owner = await signInMember(app, orgId, 'owner')
  const withdraw = (id: string) =>
    owner.post(`/orgs/${orgId}/test/verifications/${id}/withdraw`, { reason: 'The reviewer left the company' })

  const unreviewed = await calls.openPreparedSession('human')
  const { session: pending } = await calls.requestReview({ student: { externalStudentId: 'pending' } })
  for (const { id } of [unreviewed, pending]) assert.equal(outcomeOf(await withdraw(id)), '409 CONFLICT')

  const endorsed = await endorseStudent(calls, 'ravi@metro.example', 'asha@student.example')
  for (const attempt of ['first', 'repeated']) {
    const { status, body } = await withdraw(endorsed.id)
    assert.deepEqual([status, body.data?.status, body.data?.withdrawable], [200, 'declined', false], attempt)
  }
})
