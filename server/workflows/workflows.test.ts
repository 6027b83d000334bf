import assert from 'node:assert/strict'
import { test } from 'node:test'
import { aMandate, startApp } from '../../test/support/app.ts'
import { oncePerFile } from '../../test/support/cleanup.ts'
import { errorPaths, partner } from '../../test/support/partners.ts'
import { problem } from '../api/problem.ts'
import { LoadedSkills } from '../catalogue/loaded-skills.ts'
import { createMandate } from '../mandates/mandates.ts'
import { LANGUAGES } from '../platform/text/languages.ts'
import { archiveWorkflow } from './workflows.ts'

const startShared = oncePerFile((t) => startApp(t))

async function setUp() {
  const app = await startShared()
  const { context, given, clock } = app
  const { post, get, put, delete: remove, scope } = await partner(app)
  return { app, context, given, clock, post, get, put, remove, scope }
}

test('only the name is required, and other fields have defaults', async () => {
  const { clock, post, get } = await setUp()
  const created = await post('/workflows', { name: 'Site hiring' })
  assert.equal(created.status, 201, JSON.stringify(created.body))
  const { workflow_id } = created.body.data
  assert.match(workflow_id, /^WF_BC_[0-9A-HJKMNP-TV-Z]{26}$/)
  assert.deepEqual(created.body.data, {
    workflow_id,
    name: 'Site hiring',
    default_methods: ['data_enrichment', 'skill_verification', 'interest_collection'],
    channels: ['whatsapp'],
    languages: ['en'],
    follow_ups: [],
    created_via: 'api',
    status: 'active',
    mandates: 0,
    created_at: new Date(clock.now()).toISOString(),
    updated_at: new Date(clock.now()).toISOString(),
  })
  assert.deepEqual((await get(`/workflows/${workflow_id}`)).body.data, created.body.data)
})

test('all fields are returned as sent, methods in their fixed order', async () => {
  const { post } = await setUp()
  const input = {
    name: 'ह'.repeat(120),
    description: '😀'.repeat(500),
    default_methods: ['interest_collection', 'data_enrichment'],
    channels: ['email', 'sms', 'voice', 'whatsapp'],
    languages: [...LANGUAGES].reverse(),
    follow_ups: [1, 168, 24, 48, 72].map((after_hours) => ({ after_hours, channel: 'sms' })),
  }
  const created = await post('/workflows', input)
  assert.equal(created.status, 201, JSON.stringify(created.body))
  const { data } = created.body
  assert.deepEqual({ ...data, ...input }, { ...data, default_methods: input.default_methods })
  assert.deepEqual(data.default_methods, ['data_enrichment', 'interest_collection'])
})

test('values beyond the limits are rejected', async () => {
  const { post } = await setUp()
  const isRejected = async (change: object, ...paths: string[]) => {
    const response = await post('/workflows', { name: 'Site', ...change })
    assert.equal(response.status, 400, JSON.stringify([change, response.body]))
    assert.deepEqual(errorPaths(response), paths, JSON.stringify(change))
  }
  await isRejected({ name: undefined }, 'name')
  for (const name of ['', '   ', 'x'.repeat(121), 7]) await isRejected({ name }, 'name')
  await isRejected({ description: 'x'.repeat(501) }, 'description')
  for (const default_methods of [[], ['data_enrichment', 'data_enrichment']])
    await isRejected({ default_methods }, 'default_methods')
  await isRejected({ default_methods: ['dancing'] }, 'default_methods[0]')
  await isRejected({ channels: [] }, 'channels')
  await isRejected({ channels: ['sms', 'fax'] }, 'channels[1]')
  await isRejected({ languages: [] }, 'languages')
  await isRejected({ languages: ['hi', 'hi'] }, 'languages')
  await isRejected({ languages: ['fr'] }, 'languages[0]')
  const followUp = (after_hours: unknown) => ({ after_hours, channel: 'whatsapp' })
  for (const hours of [0, 169, 1.5]) await isRejected({ follow_ups: [followUp(hours)] }, 'follow_ups[0].after_hours')
  await isRejected({ follow_ups: Array(6).fill(followUp(5)) }, 'follow_ups')
  await isRejected({ follow_ups: [{ ...followUp(5), note: '' }] }, 'follow_ups[0].note')
  await isRejected({ colour: 'red', status: 'archived' }, 'colour', 'status')
  await isRejected(
    { channels: ['sms'], follow_ups: [followUp(1), { after_hours: 2, channel: 'sms' }, followUp(3)] },
    'follow_ups[0].channel',
    'follow_ups[2].channel',
  )
})

test('replacing resets omitted fields to their defaults', async () => {
  const { given, clock, put, scope } = await setUp()
  const { workflow_id } = await given.workflow(scope, { description: 'Old', languages: ['hi', 'en'] })
  clock.advance(1000)
  const response = await put(`/workflows/${workflow_id}`, { name: 'New', channels: ['email'] })
  assert.equal(response.status, 200, JSON.stringify(response.body))
  const { name, description, languages, channels, created_at, updated_at } = response.body.data
  assert.deepEqual([name, description, languages, channels], ['New', undefined, ['en'], ['email']])
  assert.ok(updated_at > created_at)
  assert.equal((await put('/workflows/WF_BC_01ARZ3NDEKTSV4RRFFQ69G5FAV', { name: 'x' })).status, 404)
  assert.deepEqual(errorPaths(await put('/workflows/nonsense', { name: '' })), ['path.workflow_id', 'name'])
})

test('an archived workflow cannot be changed, and archiving it again has no effect', async () => {
  const { given, clock, put, remove, scope } = await setUp()
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

test('a workflow created in the playground can be read, but not changed', async () => {
  const { given, get, put, remove, scope } = await setUp()
  const { workflow_id } = await given.workflow(scope, {}, 'playground')
  assert.equal((await get(`/workflows/${workflow_id}`)).body.data.created_via, 'playground')
  for (const response of [
    await put(`/workflows/${workflow_id}`, { name: 'x' }),
    await remove(`/workflows/${workflow_id}`),
  ])
    assert.deepEqual([response.status, response.body.error.code], [403, 'FORBIDDEN'])
})

test('a workflow cannot be archived while a mandate that is not archived uses it', async () => {
  const { given, post, get, remove, scope } = await setUp()
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

test('a workflow is not visible to other organisations and modes', async () => {
  const { app, given, scope } = await setUp()
  const { workflow_id } = await given.workflow(scope)
  for (const other of [await partner(app), await partner(app, 'test', scope.orgId)]) {
    assert.equal((await other.get(`/workflows/${workflow_id}`)).status, 404)
    assert.equal((await other.put(`/workflows/${workflow_id}`, { name: 'x' })).status, 404)
    assert.equal((await other.delete(`/workflows/${workflow_id}`)).status, 404)
    assert.deepEqual((await other.get('/workflows')).body.data, { items: [], next_cursor: null })
  }
})

test('workflows are listed newest first, in pages', async () => {
  const { app, given } = await setUp()
  const caller = await partner(app)
  const created: string[] = []
  for (let count = 0; count < 5; count++) created.unshift((await given.workflow(caller.scope)).workflow_id)
  const first = (await caller.get('/workflows?limit=2')).body.data
  await given.workflow(caller.scope)
  const second = (await caller.get(`/workflows?limit=3&cursor=${first.next_cursor}`)).body.data
  const ids = [...first.items, ...second.items].map(({ workflow_id }: any) => workflow_id)
  assert.deepEqual(ids, created)
  assert.equal(second.next_cursor, null)
  assert.deepEqual(errorPaths(await caller.get('/workflows?limit=101')), ['query.limit'])
  const other = await partner(app)
  assert.deepEqual(errorPaths(await other.get(`/workflows?cursor=${first.next_cursor}`)), ['query.cursor'])
})

test('if a mandate is created while its workflow is archived, one of the two fails', async () => {
  const { context, given, clock, get, scope } = await setUp()
  const deps = { clock, skills: new LoadedSkills(context.catalogue.current), writer: context.writer }
  const outcomes = new Set<string>()
  for (let round = 0; round < 30; round++) {
    const { workflow_id } = await given.workflow(scope)
    const create = () => context.db.transaction((tx) => createMandate(tx, scope, deps, aMandate(workflow_id), 'api'))
    const archive = () => context.db.transaction((tx) => archiveWorkflow(tx, scope, clock, workflow_id))
    const both = round % 2 ? [create(), archive()] : [archive(), create()]
    const results = (await Promise.allSettled<object>(both)).map(({ status }) => status)
    assert.deepEqual([...results].sort(), ['fulfilled', 'rejected'])
    outcomes.add(results[round % 2 ? 0 : 1]!) // outcome of creating the mandate
    const { mandates, status } = (await get(`/workflows/${workflow_id}`)).body.data
    assert.deepEqual([mandates, status], status === 'archived' ? [0, 'archived'] : [1, 'active'])
  }
  assert.equal(outcomes.size, 2, 'each of the two came first at least once')
})

test('a key without the scope is rejected', async () => {
  const { app, given, scope } = await setUp()
  const reader = app.as(await given.key(scope.orgId, { scopes: ['workflows:read'] }))
  const response = await reader.post('/workflows', { name: 'x' })
  assert.deepEqual([response.status, response.body.error.code], [403, problem('SCOPE_MISSING', '').code])
})
