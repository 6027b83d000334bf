import assert from 'node:assert/strict'
import { test } from 'node:test'
import { aMandate, prepareMandates, startApp } from '../../test/support/app.ts'
import { partner } from '../../test/support/partner.ts'
import { approveRequest, rejectRequest } from '../catalogue/skill-requests.ts'

test('skill requests that are decided', async (t) => {
  const app = await startApp(t)
  const { context, given, clock } = app
  const { db } = context
  const approve = (id: string) =>
    db.transaction((tx) => approveRequest(tx, clock, id, { subNumber: 101, verifiable: true }))
  const ask = async (caller: Awaited<ReturnType<typeof partner>>, name: string) =>
    (await caller.post('/skill-requests', { name })).body.data.request_id as string

  await t.test('every mandate that names the skill has it from then on, and is prepared again', async () => {
    const [one, two] = [await partner(app), await partner(app, 'test')]
    const name = 'Dhokra casting'
    const request = await ask(one, name)
    await ask(two, name)
    const pending = { name: ' dhokra CASTING ', pending: true as const }
    const other = { name: 'Kite making', pending: true as const }
    await ask(one, other.name)
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
    assert.ok(
      changed.warnings.some((warning: string) => warning.includes('Kite making') && !warning.includes('CASTING')),
    )
    await prepareMandates(context)
    const elsewhere = (await two.get(`/mandates/${second.mandate_id}`)).body.data
    assert.deepEqual(
      [elsewhere.skills[1], elsewhere.status, elsewhere.flow_version],
      [{ skill_id, verify: false }, 'ready', 2],
    )
    for (const mandate of [archived, untouched])
      assert.equal((await one.get(`/mandates/${mandate.mandate_id}`)).body.data.flow_version, 1)

    const { workflow_id } = first
    const body = { ...aMandate(workflow_id), skills }
    assert.equal(
      (await one.put(`/mandates/${first.mandate_id}`, body)).status,
      200,
      'the last accepted body is the same',
    )
    const resolved = { ...body, skills: changed.skills }
    assert.equal((await one.put(`/mandates/${first.mandate_id}`, resolved)).status, 200, 'so is what is stored')
    const verified = { ...body, skills: [skills[0], { skill_id, verify: true }, other] }
    for (let change = 0; change < 10; change++) {
      const answer = await one.put(`/mandates/${first.mandate_id}`, { ...verified, title: `Title ${change}` })
      assert.equal(answer.status, 202, 'the approval was none of the ten changes')
      await prepareMandates(context)
    }
    assert.equal((await one.put(`/mandates/${first.mandate_id}`, verified)).status, 409)
  })

  await t.test('partners are told, each of its own request', async () => {
    const [one, two] = [await partner(app), await partner(app)]
    const approved = await ask(one, 'Bidri inlay')
    const rejected = await ask(two, 'Time travel')
    await ask(two, 'bidri INLAY')
    const { skill } = await approve(approved)
    await db.transaction((tx) => rejectRequest(tx, clock, rejected))
    await context.events.place()
    const told = async (orgId: string) => {
      const rows = await db.queries
        .selectFrom('events')
        .select(['type', 'data'])
        .where('org_id', '=', orgId)
        .orderBy('sequence')
        .execute()
      assert.ok(rows.every(({ type }) => type === 'skill_request.resolved'))
      return rows.map(({ data }) => JSON.parse(data))
    }
    assert.deepEqual(await told(one.orgId), [(await one.get(`/skill-requests/${approved}`)).body.data])
    assert.deepEqual(
      (await told(two.orgId)).map(({ name, status, skill_id }) => [name, status, skill_id]),
      [
        ['bidri INLAY', 'approved', `sk_${skill.number}`],
        ['Time travel', 'rejected', null],
      ],
    )
  })

  await t.test('a mandate created while its skill is approved is not left behind with the pending name', async () => {
    const caller = await partner(app)
    const { workflow_id } = await given.workflow(caller.scope)
    for (let round = 0; round < 5; round++) {
      const name = `Skill of round ${round}`
      const request = await ask(caller, name)
      const body = { ...aMandate(workflow_id), skills: [{ name, pending: true }] }
      const change = { ...aMandate(workflow_id), title: 'Changed', skills: [{ name, pending: true }] }
      const { mandate_id } = await given.mandate(caller.scope, { workflow_id })
      const [made, put] = await Promise.all([
        caller.post('/mandates', body),
        caller.put(`/mandates/${mandate_id}`, change),
        approve(request),
      ])
      for (const answer of [made, put]) {
        assert.ok([202, 400].includes(answer.status), JSON.stringify(answer.body))
        if (answer.status !== 202) continue
        const { skills } = (await caller.get(`/mandates/${answer.body.data.mandate_id}`)).body.data
        assert.deepEqual(Object.keys(skills[0]), ['skill_id', 'verify'])
      }
      await prepareMandates(context)
    }
  })
})
