import assert from 'node:assert/strict'
import { test } from 'node:test'
import { signIn, signInMember } from '../../../test/support/console.ts'
import {
  endorseStudent,
  plantRing,
  startVerification,
  type TestSession,
  type VerificationCalls,
} from '../../../test/support/verification.ts'
import { MINUTE } from '../../platform/clock.ts'
import { updateAllRings } from './rings.ts'

const codesOf = async (calls: VerificationCalls, session: TestSession): Promise<string[]> =>
  (await calls.getVerification(session)).reasons.map(({ code }: { code: string }) => code)

test('the endorsement that closes a ring is weak evidence in its event, and so become the others', async (t) => {
  const calls = await startVerification(t)
  const [first, second, third] = await plantRing(calls)
  const completed = (await calls.listEvents()).filter(({ type }) => type === 'verification.completed')
  const ringInEvents = completed.map(({ data }) => data.reasons.some(({ code }: { code: string }) => code === 'ring'))
  assert.deepEqual(ringInEvents, [false, false, true])
  for (const session of [first!, second!, third!]) {
    assert.equal((await calls.getVerification(session)).evidenceLevel, 'weak')
    assert.ok((await codesOf(calls, session)).includes('ring'))
    assert.equal((await calls.getVerification(session)).status, 'completed', 'nothing is rejected')
  }
  const outside = await endorseStudent(calls, 'amit.k@gmail.com', 'dora@college.example')
  assert.ok(!(await codesOf(calls, outside)).includes('ring'), 'only endorsements between members are affected')
})

test('operators see rings with masked members, write notes and dismiss them; every view is audited', async (t) => {
  const calls = await startVerification(t)
  const { app, orgId } = calls
  const [session] = await plantRing(calls)
  const operator = await signIn(app)
  const { items } = (await operator.get('/operator/rings?status=open')).body.data
  assert.equal(items.length, 1)
  const [ring] = items
  assert.equal(ring.kind, 'cycle')
  assert.equal(ring.mode, 'live')
  assert.equal(ring.members.length, 3)
  for (const member of ring.members) assert.match(member, /^[1-3]: [0-9a-f]{8}$/)
  assert.equal(ring.evidence.endorsements, 3)
  assert.equal(ring.evidence.shortest_cycle, 3)
  assert.equal(ring.evidence.quick_answers, 3)
  const details = (await operator.get(`/operator/rings/${ring.ring_id}`)).body.data
  const endorsements = details.endorsements.map(({ reviewer, student }: any) => `${reviewer[0]} ${student[0]}`)
  // Members are numbered by their hashes, so that the cycle can have either direction.
  const cycles = [
    ['1 2', '2 3', '3 1'],
    ['1 3', '2 1', '3 2'],
  ]
  assert.ok(
    cycles.some((cycle) => cycle.join() === endorsements.sort().join()),
    endorsements.join(),
  )
  assert.doesNotMatch(JSON.stringify([items, details]), /amit|bina|carl/)

  const note = { note: 'Called all three: they founded the company together.', status: 'dismissed' }
  const noted = (await operator.put(`/operator/rings/${ring.ring_id}`, note)).body.data
  assert.deepEqual([noted.note, noted.status, noted.noted_by], [note.note, 'dismissed', 'operator@example.com'])
  assert.ok(!(await codesOf(calls, session!)).includes('ring'), 'a dismissed ring does not weaken the evidence')
  await updateAllRings(app.context)
  assert.deepEqual((await operator.get('/operator/rings?status=open')).body.data.items, [], 'it stays dismissed')

  const auditEntries = (await operator.get('/operator/audit?limit=20')).body.data.items
  assert.deepEqual(
    auditEntries.filter(({ action }: any) => action === 'rings.list').map(({ details }: any) => details.rings),
    [[], [ring.ring_id]],
  )
  assert.deepEqual(
    auditEntries
      .filter(({ action }: any) => action.startsWith('rings.'))
      .map(({ action, subject, who }: any) => `${action} ${subject} ${who}`),
    [
      'rings.list null operator@example.com',
      `rings.note ${ring.ring_id} operator@example.com`,
      `rings.view ${ring.ring_id} operator@example.com`,
      'rings.list null operator@example.com',
    ],
  )
  for (const role of ['viewer', 'recruiter', 'owner'] as const) {
    const member = await signInMember(app, orgId, role)
    assert.equal((await member.get('/operator/rings')).status, 403)
    assert.equal((await member.get(`/operator/rings/${ring.ring_id}`)).status, 403)
  }
  assert.equal((await operator.get('/operator/rings/RG_01ARZ3NDEKTSV4RRFFQ69G5FAV')).status, 404)
})

test('a dismissed ring that somebody joins is opened again, with its note', async (t) => {
  const calls = await startVerification(t)
  await plantRing(calls)
  const operator = await signIn(calls.app)
  const listOpen = async () => (await operator.get('/operator/rings?status=open')).body.data.items
  const [ring] = await listOpen()
  await operator.put(`/operator/rings/${ring.ring_id}`, { note: 'One team', status: 'dismissed' })
  await endorseStudent(calls, 'amit.k@gmail.com', 'dave@gmail.com')
  await endorseStudent(calls, 'dave@gmail.com', 'bina.m+2@gmail.com')
  await endorseStudent(calls, 'dave@gmail.com', 'amit.k+2@gmail.com')
  const [opened] = await listOpen()
  assert.deepEqual([opened.ring_id, opened.size, opened.note], [ring.ring_id, 4, 'One team'])
})

test('the nightly search finds rings that were stored elsewhere, and ends those that are gone', async (t) => {
  const calls = await startVerification(t)
  const { context } = calls.app
  const sessions = await plantRing(calls)
  const operator = await signIn(calls.app)
  const listRings = async (status: string) => (await operator.get(`/operator/rings?status=${status}`)).body.data.items
  await context.db.queries.deleteFrom('endorsement_rings').execute()
  assert.deepEqual(await listRings('open'), [])
  await updateAllRings(context)
  const [ring] = await listRings('open')
  assert.equal(ring.size, 3)
  calls.clock.advance(MINUTE)
  await updateAllRings(context)
  assert.deepEqual(
    (await listRings('open')).map(({ ring_id }: any) => ring_id),
    [ring.ring_id],
    'the ring keeps its ID',
  )
  await context.db.queries.deleteFrom('endorsements').where('verification_id', '=', sessions[0]!.id).execute()
  await updateAllRings(context)
  assert.deepEqual(await listRings('open'), [])
  const [ended] = await listRings('ended')
  assert.equal(ended.ring_id, ring.ring_id)
  const response = await operator.put(`/operator/rings/${ring.ring_id}`, { status: 'dismissed' })
  assert.equal(response.status, 409)
})
