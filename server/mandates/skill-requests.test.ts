import assert from 'node:assert/strict'
import { test } from 'node:test'
import { aMandate, prepareMandates, startApp } from '../../test/support/app.ts'
import { oncePerFile } from '../../test/support/cleanup.ts'
import { partner } from '../../test/support/partners.ts'
import { approveRequest, rejectRequest } from '../catalogue/skill-requests.ts'

const startShared = oncePerFile((t) => startApp(t))

async function setUp() {
  const app = await startShared()
  const { context, given, clock } = app
  const { db } = context
  const approve = (id: string) =>
    db.transaction((tx) => approveRequest(tx, clock, id, { subNumber: 101, verifiable: true }))
  const requestSkill = async (caller: Awaited<ReturnType<typeof partner>>, name: string) =>
    (await caller.post('/skill-requests', { name })).body.data.request_id as string
  return { app, context, given, clock, db, approve, requestSkill }
}

test('an approved skill replaces the pending name in every mandate, which is prepared again', async () => {
  const { app, context, given, approve, requestSkill } = await setUp()
  const [one, two] = [await partner(app), await partner(app, 'test')]
  const name = 'Dhokra casting'
  const request = await requestSkill(one, name)
  await requestSkill(two, name)
  const pending = { name: ' dhokra CASTING ', pending: true as const }
  const other = { name: 'Kite making', pending: true as const }
  await requestSkill(one, other.name)
  const skills = [{ skill_id: 'sk_2001', verify: true }, pending, other]
  const first = await given.mandate(one.scope, { skills })
  const second = await given.mandate(two.scope, { skills: skills.slice(0, 2) })
  const archived = await given.mandate(one.scope, { skills })
  await one.delete(`/mandates/${archived.mandate_id}`)
  const untouched = await given.mandate(one.scope, { skills: [other] })

  const { skill } = await approve(request)
  const skill_id = `sk_${skill.number}`
  const changed = (await one.get(`/mandates/${first.mandate_id}`)).body.data
  assert.deepEqual(changed.skills, [skills[0], { skill_id, verify: false }, other])
  assert.deepEqual([changed.status, changed.flow_version, changed.version], ['preparing', 2, 3])
  assert.ok(changed.warnings.some((warning: string) => warning.includes('Kite making') && !warning.includes('CASTING')))
  await prepareMandates(context)
  const otherMandate = (await two.get(`/mandates/${second.mandate_id}`)).body.data
  assert.deepEqual(
    [otherMandate.skills[1], otherMandate.status, otherMandate.flow_version],
    [{ skill_id, verify: false }, 'ready', 2],
  )
  for (const mandate of [archived, untouched])
    assert.equal((await one.get(`/mandates/${mandate.mandate_id}`)).body.data.flow_version, 1)

  const { workflow_id } = first
  const body = { ...aMandate(workflow_id), skills }
  assert.equal((await one.put(`/mandates/${first.mandate_id}`, body)).status, 200, 'equal to the last accepted body')
  const resolved = { ...body, skills: changed.skills }
  assert.equal((await one.put(`/mandates/${first.mandate_id}`, resolved)).status, 200, 'equal to the stored body')
  const verified = { ...body, skills: [skills[0], { skill_id, verify: true }, other] }
  for (let change = 0; change < 10; change++) {
    const response = await one.put(`/mandates/${first.mandate_id}`, { ...verified, title: `Title ${change}` })
    assert.equal(response.status, 202, 'the approval does not count towards the ten changes')
    await prepareMandates(context)
  }
  assert.equal((await one.put(`/mandates/${first.mandate_id}`, verified)).status, 409)
})

test('each partner gets an event for its own request', async () => {
  const { app, context, clock, db, approve, requestSkill } = await setUp()
  const [one, two] = [await partner(app), await partner(app)]
  const approved = await requestSkill(one, 'Bidri inlay')
  const rejected = await requestSkill(two, 'Time travel')
  await requestSkill(two, 'bidri INLAY')
  const { skill } = await approve(approved)
  await db.transaction((tx) => rejectRequest(tx, clock, rejected))
  await context.events.sequence()
  const eventData = async (orgId: string) => {
    const rows = await db.queries
      .selectFrom('events')
      .select(['type', 'data'])
      .where('org_id', '=', orgId)
      .orderBy('sequence')
      .execute()
    assert.ok(rows.every(({ type }) => type === 'skill_request.resolved'))
    return rows.map(({ data }) => JSON.parse(data))
  }
  assert.deepEqual(await eventData(one.orgId), [(await one.get(`/skill-requests/${approved}`)).body.data])
  assert.deepEqual(
    (await eventData(two.orgId)).map(({ name, status, skill_id }) => [name, status, skill_id]),
    [
      ['bidri INLAY', 'approved', `sk_${skill.number}`],
      ['Time travel', 'rejected', null],
    ],
  )
})

test('a mandate created while its skill is being approved does not keep the pending name', async () => {
  const { app, context, given, approve, requestSkill } = await setUp()
  const caller = await partner(app)
  const { workflow_id } = await given.workflow(caller.scope)
  for (let round = 0; round < 5; round++) {
    const name = `Skill of round ${round}`
    const request = await requestSkill(caller, name)
    const body = { ...aMandate(workflow_id), skills: [{ name, pending: true }] }
    const change = { ...aMandate(workflow_id), title: 'Changed', skills: [{ name, pending: true }] }
    const { mandate_id } = await given.mandate(caller.scope, { workflow_id })
    const [created, replaced] = await Promise.all([
      caller.post('/mandates', body),
      caller.put(`/mandates/${mandate_id}`, change),
      approve(request),
    ])
    for (const response of [created, replaced]) {
      assert.ok([202, 400].includes(response.status), JSON.stringify(response.body))
      if (response.status !== 202) continue
      const { skills } = (await caller.get(`/mandates/${response.body.data.mandate_id}`)).body.data
      assert.deepEqual(Object.keys(skills[0]), ['skill_id', 'verify'])
    }
    await prepareMandates(context)
  }
})
