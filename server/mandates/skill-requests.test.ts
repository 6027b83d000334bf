import assert from 'node:assert/strict'
import { test } from 'node:test'
import { aMandate, prepareMandates, startApp } from '../../test/support/app.ts'
import { oncePerFile } from '../../test/support/cleanup.ts'
import { fakeItemWriter } from '../../test/support/fake-item-writer.ts'
import { createPartner, errorPaths } from '../../test/support/partners.ts'
import { approveRequest, rejectRequest } from '../catalogue/skill-requests.ts'
import { getFlow } from './flow.ts'
import { openPreparer } from './preparation.ts'

const startSharedApp = oncePerFile((t) => startApp(t))

async function setUp() {
  const app = await startSharedApp()
  const { context, fixtures, clock } = app
  const { db } = context
  const approve = (id: string) =>
    db.transaction((tx) => approveRequest(tx, clock, id, { subNumber: 101, verifiable: true }))
  const requestSkill = async (caller: Awaited<ReturnType<typeof createPartner>>, name: string) =>
    (await caller.post('/skill-requests', { name })).body.data.request_id as string
  return { app, context, fixtures, clock, db, approve, requestSkill }
}

test('an approved skill replaces the pending name in every mandate, which is prepared again', async () => {
  const { app, context, fixtures, approve, requestSkill } = await setUp()
  const [firstPartner, secondPartner] = [await createPartner(app), await createPartner(app, 'test')]
  const name = 'Dhokra casting'
  const request = await requestSkill(firstPartner, name)
  await requestSkill(secondPartner, name)
  const pendingSkill = { name: ' dhokra CASTING ', pending: true as const }
  const otherPendingSkill = { name: 'Kite making', pending: true as const }
  await requestSkill(firstPartner, otherPendingSkill.name)
  const skills = [{ skill_id: 'sk_2001', verify: true }, pendingSkill, otherPendingSkill]
  const firstMandate = await fixtures.createMandate(firstPartner.scope, { skills })
  const secondMandate = await fixtures.createMandate(secondPartner.scope, { skills: skills.slice(0, 2) })
  const archivedMandate = await fixtures.createMandate(firstPartner.scope, { skills })
  await firstPartner.delete(`/mandates/${archivedMandate.mandate_id}`)
  const untouchedMandate = await fixtures.createMandate(firstPartner.scope, { skills: [otherPendingSkill] })

  const { skill } = await approve(request)
  const skill_id = `sk_${skill.number}`
  const changedMandate = (await firstPartner.get(`/mandates/${firstMandate.mandate_id}`)).body.data
  assert.deepEqual(changedMandate.skills, [skills[0], { skill_id, verify: false }, otherPendingSkill])
  assert.deepEqual([changedMandate.status, changedMandate.flow_version, changedMandate.version], ['preparing', 2, 3])
  assert.ok(
    changedMandate.warnings.some((warning: string) => warning.includes('Kite making') && !warning.includes('CASTING')),
  )
  await prepareMandates(context)
  const otherMandate = (await secondPartner.get(`/mandates/${secondMandate.mandate_id}`)).body.data
  assert.deepEqual(
    [otherMandate.skills[1], otherMandate.status, otherMandate.flow_version],
    [{ skill_id, verify: false }, 'ready', 2],
  )
  for (const mandate of [archivedMandate, untouchedMandate])
    assert.equal((await firstPartner.get(`/mandates/${mandate.mandate_id}`)).body.data.flow_version, 1)

  const { workflow_id } = firstMandate
  const body = { ...aMandate(workflow_id), skills }
  assert.equal(
    (await firstPartner.put(`/mandates/${firstMandate.mandate_id}`, body)).status,
    200,
    'equal to the last accepted body',
  )
  const resolvedBody = { ...body, skills: changedMandate.skills }
  assert.equal(
    (await firstPartner.put(`/mandates/${firstMandate.mandate_id}`, resolvedBody)).status,
    200,
    'equal to the stored body',
  )
  const verifiedBody = { ...body, skills: [skills[0], { skill_id, verify: true }, otherPendingSkill] }
  const rejected = await firstPartner.put(`/mandates/${firstMandate.mandate_id}`, verifiedBody)
  assert.equal(rejected.status, 400, 'there are no questions about the new skill')
  assert.deepEqual(errorPaths(rejected), ['skills[1].verify'])
  for (let change = 0; change < 10; change++) {
    const response = await firstPartner.put(`/mandates/${firstMandate.mandate_id}`, {
      ...resolvedBody,
      title: `Title ${change}`,
    })
    assert.equal(response.status, 202, 'the approval does not count towards the ten changes')
    await prepareMandates(context)
  }
  assert.equal((await firstPartner.put(`/mandates/${firstMandate.mandate_id}`, resolvedBody)).status, 409)
})

test('each partner gets an event for its own request', async () => {
  const { app, context, clock, db, approve, requestSkill } = await setUp()
  const [firstPartner, secondPartner] = [await createPartner(app), await createPartner(app)]
  const approvedRequest = await requestSkill(firstPartner, 'Bidri inlay')
  const rejectedRequest = await requestSkill(secondPartner, 'Time travel')
  await requestSkill(secondPartner, 'bidri INLAY')
  const { skill } = await approve(approvedRequest)
  await db.transaction((tx) => rejectRequest(tx, clock, rejectedRequest))
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
  assert.deepEqual(await eventData(firstPartner.orgId), [
    (await firstPartner.get(`/skill-requests/${approvedRequest}`)).body.data,
  ])
  assert.deepEqual(
    (await eventData(secondPartner.orgId)).map(({ name, status, skill_id }) => [name, status, skill_id]),
    [
      ['bidri INLAY', 'approved', `sk_${skill.number}`],
      ['Time travel', 'rejected', null],
    ],
  )
})

test('a mandate created while its skill is being approved does not keep the pending name', async () => {
  const { app, context, fixtures, approve, requestSkill } = await setUp()
  const caller = await createPartner(app)
  const { workflow_id } = await fixtures.createWorkflow(caller.scope)
  for (let round = 0; round < 5; round++) {
    const name = `Skill of round ${round}`
    const request = await requestSkill(caller, name)
    const body = { ...aMandate(workflow_id), skills: [{ name, pending: true }] }
    const replacement = { ...aMandate(workflow_id), title: 'Changed', skills: [{ name, pending: true }] }
    const { mandate_id } = await fixtures.createMandate(caller.scope, { workflow_id })
    const [createResponse, replaceResponse] = await Promise.all([
      caller.post('/mandates', body),
      caller.put(`/mandates/${mandate_id}`, replacement),
      approve(request),
    ])
    for (const response of [createResponse, replaceResponse]) {
      assert.ok([202, 400].includes(response.status), JSON.stringify(response.body))
      if (response.status !== 202) continue
      const { skills } = (await caller.get(`/mandates/${response.body.data.mandate_id}`)).body.data
      assert.deepEqual(Object.keys(skills[0]), ['skill_id', 'verify'])
    }
    await prepareMandates(context)
  }
})

test('questions that were being written when a skill was approved are discarded', async () => {
  const { app, context, approve, requestSkill, fixtures } = await setUp()
  const caller = await createPartner(app)
  const name = 'Pattachitra painting'
  const request = await requestSkill(caller, name)
  const { workflow_id } = await fixtures.createWorkflow(caller.scope)
  const skills = [
    { skill_id: 'sk_2001', verify: true },
    { name, pending: true },
  ]
  const { mandate_id } = (await caller.post('/mandates', { ...aMandate(workflow_id), skills })).body.data
  const writingStarted = Promise.withResolvers<void>()
  const resumeWriting = Promise.withResolvers<void>()
  const writer = fakeItemWriter()
  const slowWriter = fakeItemWriter({
    async writeItems(itemsRequest) {
      writingStarted.resolve()
      await resumeWriting.promise
      return writer.writeItems(itemsRequest)
    },
  })
  const preparation = openPreparer({ ...context, writer: slowWriter }).prepareAll()
  await writingStarted.promise
  await approve(request)
  resumeWriting.resolve()
  await preparation

  const mandate = (await caller.get(`/mandates/${mandate_id}`)).body.data
  assert.deepEqual([mandate.status, mandate.flow_version], ['ready', 2])
  const { skills: flowSkills } = await getFlow(context.db.queries, caller.scope, mandate_id, 2)
  assert.equal(flowSkills[0]!.source, 'ai')
  await assert.rejects(getFlow(context.db.queries, caller.scope, mandate_id, 1), /has no prepared questions/)
})
