import assert from 'node:assert/strict'
import { test } from 'node:test'
import { aMandate, startApp } from '../../test/support/app.ts'
import { partner, pathsOf } from '../../test/support/partner.ts'
import { problem } from '../api/problem.ts'
import { createMandate } from '../mandates/mandates.ts'
import { archiveWorkflow, languages } from './workflows.ts'

test('workflows', async (t) => {
  const app = await startApp(t)
  const { context, given, clock } = app
  const { post, get, put, delete: remove, scope } = await partner(app)

  await t.test('only the name is required, and the rest has defaults', async () => {
    const made = await post('/workflows', { name: 'Site hiring' })
    assert.equal(made.status, 201, JSON.stringify(made.body))
    const { workflow_id } = made.body.data
    assert.match(workflow_id, /^WF_BC_[0-9A-HJKMNP-TV-Z]{26}$/)
    assert.deepEqual(made.body.data, {
      workflow_id,
      name: 'Site hiring',
      default_methods: ['data_enrichment', 'skill_verification', 'interest_collection'],
      channels: ['whatsapp'],
      languages: ['en'],
      follow_ups: [],
      created_via: 'api',
      status: 'active',
      mandates: 0,
      created_at: '2026-03-11T06:30:00.000Z',
      updated_at: '2026-03-11T06:30:00.000Z',
    })
    assert.deepEqual((await get(`/workflows/${workflow_id}`)).body.data, made.body.data)
  })

  await t.test('everything that is set comes back, methods in their fixed order', async () => {
    const input = {
      name: 'ह'.repeat(120),
      description: '😀'.repeat(500),
      default_methods: ['interest_collection', 'data_enrichment'],
      channels: ['email', 'sms', 'voice', 'whatsapp'],
      languages: [...languages].reverse(),
      follow_ups: [1, 168, 24, 48, 72].map((after_hours) => ({ after_hours, channel: 'sms' })),
    }
    const made = await post('/workflows', input)
    assert.equal(made.status, 201, JSON.stringify(made.body))
    const { data } = made.body
    assert.deepEqual({ ...data, ...input }, { ...data, default_methods: input.default_methods })
    assert.deepEqual(data.default_methods, ['data_enrichment', 'interest_collection'])
  })

  await t.test('every rule at its boundaries', async () => {
    const refused = async (change: object, ...paths: string[]) => {
      const answer = await post('/workflows', { name: 'Site', ...change })
      assert.equal(answer.status, 400, JSON.stringify([change, answer.body]))
      assert.deepEqual(pathsOf(answer), paths, JSON.stringify(change))
    }
    await refused({ name: undefined }, 'name')
    for (const name of ['', '   ', 'x'.repeat(121), 7]) await refused({ name }, 'name')
    await refused({ description: 'x'.repeat(501) }, 'description')
    for (const default_methods of [[], ['data_enrichment', 'data_enrichment']])
      await refused({ default_methods }, 'default_methods')
    await refused({ default_methods: ['dancing'] }, 'default_methods[0]')
    await refused({ channels: [] }, 'channels')
    await refused({ channels: ['sms', 'fax'] }, 'channels[1]')
    await refused({ languages: [] }, 'languages')
    await refused({ languages: ['hi', 'hi'] }, 'languages')
    await refused({ languages: ['fr'] }, 'languages[0]')
    const due = (after_hours: unknown) => ({ after_hours, channel: 'whatsapp' })
    for (const hours of [0, 169, 1.5]) await refused({ follow_ups: [due(hours)] }, 'follow_ups[0].after_hours')
    await refused({ follow_ups: Array(6).fill(due(5)) }, 'follow_ups')
    await refused({ follow_ups: [{ ...due(5), note: '' }] }, 'follow_ups[0].note')
    await refused({ colour: 'red', status: 'archived' }, 'colour', 'status')
    await refused(
      { channels: ['sms'], follow_ups: [due(1), { after_hours: 2, channel: 'sms' }, due(3)] },
      'follow_ups[0].channel',
      'follow_ups[2].channel',
    )
  })

  await t.test('replacing sends the whole again', async () => {
    const { workflow_id } = await given.workflow(scope, { description: 'Old', languages: ['hi', 'en'] })
    clock.advance(1000)
    const answer = await put(`/workflows/${workflow_id}`, { name: 'New', channels: ['email'] })
    assert.equal(answer.status, 200, JSON.stringify(answer.body))
    const { name, description, languages, channels, created_at, updated_at } = answer.body.data
    assert.deepEqual([name, description, languages, channels], ['New', undefined, ['en'], ['email']])
    assert.ok(updated_at > created_at)
    assert.equal((await put('/workflows/WF_BC_01ARZ3NDEKTSV4RRFFQ69G5FAV', { name: 'x' })).status, 404)
    assert.deepEqual(pathsOf(await put('/workflows/nonsense', { name: '' })), ['path.workflow_id', 'name'])
  })

  await t.test('archived: unchangeable, and archived again without effect', async () => {
    const { workflow_id } = await given.workflow(scope)
    const archived = await remove(`/workflows/${workflow_id}`)
    assert.deepEqual([archived.status, archived.body.data.status], [200, 'archived'])
    clock.advance(1000)
    const again = await remove(`/workflows/${workflow_id}`)
    assert.deepEqual([again.status, again.body.data], [200, archived.body.data])
    const change = await put(`/workflows/${workflow_id}`, {
      name: 'x',
      follow_ups: [{ after_hours: 1, channel: 'sms' }],
    })
    assert.deepEqual([change.status, change.body.error.code], [409, 'CONFLICT'])
    assert.equal((await remove('/workflows/WF_BC_01ARZ3NDEKTSV4RRFFQ69G5FAV')).status, 404)
  })

  await t.test('made in the playground: readable, not changeable', async () => {
    const { workflow_id } = await given.workflow(scope, {}, 'playground')
    assert.equal((await get(`/workflows/${workflow_id}`)).body.data.created_via, 'playground')
    for (const answer of [
      await put(`/workflows/${workflow_id}`, { name: 'x' }),
      await remove(`/workflows/${workflow_id}`),
    ])
      assert.deepEqual([answer.status, answer.body.error.code], [403, 'FORBIDDEN'])
  })

  await t.test('in use while a mandate that is not archived follows it', async () => {
    const { workflow_id } = await given.workflow(scope)
    const [one, two] = [await given.mandate(scope, { workflow_id }), await given.mandate(scope, { workflow_id })]
    assert.equal((await get(`/workflows/${workflow_id}`)).body.data.mandates, 2)
    const inUse = await remove(`/workflows/${workflow_id}`)
    assert.deepEqual([inUse.status, inUse.body.error.code], [409, 'WORKFLOW_IN_USE'])
    await remove(`/mandates/${one.mandate_id}`)
    assert.equal((await remove(`/workflows/${workflow_id}`)).status, 409)
    await remove(`/mandates/${two.mandate_id}`)
    const archived = await remove(`/workflows/${workflow_id}`)
    assert.deepEqual([archived.status, archived.body.data.mandates], [200, 0])
    const late = await post('/mandates', aMandate(workflow_id))
    assert.deepEqual([late.status, late.body.error.code], [409, 'CONFLICT'])
  })

  await t.test('other organisations and modes see nothing of it', async () => {
    const { workflow_id } = await given.workflow(scope)
    for (const other of [await partner(app), await partner(app, 'test', scope.orgId)]) {
      assert.equal((await other.get(`/workflows/${workflow_id}`)).status, 404)
      assert.equal((await other.put(`/workflows/${workflow_id}`, { name: 'x' })).status, 404)
      assert.equal((await other.delete(`/workflows/${workflow_id}`)).status, 404)
      assert.deepEqual((await other.get('/workflows')).body.data, { items: [], next_cursor: null })
    }
  })

  await t.test('the list is newest first, a page at a time', async () => {
    const caller = await partner(app)
    const made: string[] = []
    for (let count = 0; count < 5; count++) made.unshift((await given.workflow(caller.scope)).workflow_id)
    const first = (await caller.get('/workflows?limit=2')).body.data
    await given.workflow(caller.scope)
    const second = (await caller.get(`/workflows?limit=3&cursor=${first.next_cursor}`)).body.data
    const ids = [...first.items, ...second.items].map(({ workflow_id }: any) => workflow_id)
    assert.deepEqual(ids, made)
    assert.equal(second.next_cursor, null)
    assert.deepEqual(pathsOf(await caller.get('/workflows?limit=101')), ['query.limit'])
    const elsewhere = await partner(app)
    assert.deepEqual(pathsOf(await elsewhere.get(`/workflows?cursor=${first.next_cursor}`)), ['query.cursor'])
  })

  await t.test('a mandate created while the workflow is being archived: one of the two is refused', async () => {
    const surroundings = { clock, skills: context.catalogue.current, writer: context.writer }
    const outcomes = new Set<string>()
    for (let round = 0; round < 30; round++) {
      const { workflow_id } = await given.workflow(scope)
      const make = () =>
        context.db.transaction((tx) => createMandate(tx, scope, surroundings, aMandate(workflow_id), 'api'))
      const archive = () => context.db.transaction((tx) => archiveWorkflow(tx, scope, clock, workflow_id))
      const both = round % 2 ? [make(), archive()] : [archive(), make()]
      const results = (await Promise.allSettled<object>(both)).map(({ status }) => status)
      assert.deepEqual([...results].sort(), ['fulfilled', 'rejected'])
      outcomes.add(results[round % 2 ? 0 : 1]!) // what came of the mandate
      const { mandates, status } = (await get(`/workflows/${workflow_id}`)).body.data
      assert.deepEqual([mandates, status], status === 'archived' ? [0, 'archived'] : [1, 'active'])
    }
    assert.equal(outcomes.size, 2, 'each of the two was the first at times')
  })

  await t.test('a key without the scope is refused', async () => {
    const reader = app.as(await given.key(scope.orgId, { scopes: ['workflows:read'] }))
    const answer = await reader.post('/workflows', { name: 'x' })
    assert.deepEqual([answer.status, answer.body.error.code], [403, problem('SCOPE_MISSING', '').code])
  })
})
