import assert from 'node:assert/strict'
import { once } from 'node:events'
import { test } from 'node:test'
import { aMandate, startApp } from '../../test/support/app.ts'
import { oncePerFile } from '../../test/support/cleanup.ts'
import { createPartner, errorPaths } from '../../test/support/partners.ts'
import { problem } from '../api/problem.ts'
import { LoadedSkills } from '../catalogue/loaded-skills.ts'
import { createMandate } from '../mandates/mandates.ts'
import { LANGUAGES } from '../platform/text/languages.ts'
import { archiveWorkflow } from './workflows.ts'

const startSharedApp = oncePerFile((t) => startApp(t))

async function setUp() {
  const app = await startSharedApp()
  const { context, fixtures, clock } = app
  const { post, get, put, delete: remove, scope } = await createPartner(app)
  return { app, context, fixtures, clock, post, get, put, remove, scope }
}

test('only the name is required, and other fields have defaults', async () => {
  const { clock, post, get } = await setUp()
  const createResponse = await post('/workflows', { name: 'Site hiring' })
  assert.equal(createResponse.status, 201, JSON.stringify(createResponse.body))
  const { workflow_id } = createResponse.body.data
  assert.match(workflow_id, /^WF_BC_[0-9A-HJKMNP-TV-Z]{26}$/)
  assert.deepEqual(createResponse.body.data, {
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
  assert.deepEqual((await get(`/workflows/${workflow_id}`)).body.data, createResponse.body.data)
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
  const createResponse = await post('/workflows', input)
  assert.equal(createResponse.status, 201, JSON.stringify(createResponse.body))
  const { data } = createResponse.body
  assert.deepEqual({ ...data, ...input }, { ...data, default_methods: input.default_methods })
  assert.deepEqual(data.default_methods, ['data_enrichment', 'interest_collection'])
})

test('values beyond the limits are rejected', async () => {
  const { post } = await setUp()
  const assertRejected = async (change: object, ...paths: string[]) => {
    const response = await post('/workflows', { name: 'Site', ...change })
    assert.equal(response.status, 400, JSON.stringify([change, response.body]))
    assert.deepEqual(errorPaths(response), paths, JSON.stringify(change))
  }
  await assertRejected({ name: undefined }, 'name')
  for (const name of ['', '   ', 'x'.repeat(121), 7]) await assertRejected({ name }, 'name')
  await assertRejected({ description: 'x'.repeat(501) }, 'description')
  for (const default_methods of [[], ['data_enrichment', 'data_enrichment']])
    await assertRejected({ default_methods }, 'default_methods')
  await assertRejected({ default_methods: ['dancing'] }, 'default_methods[0]')
  await assertRejected({ channels: [] }, 'channels')
  await assertRejected({ channels: ['sms', 'fax'] }, 'channels[1]')
  await assertRejected({ languages: [] }, 'languages')
  await assertRejected({ languages: ['hi', 'hi'] }, 'languages')
  await assertRejected({ languages: ['fr'] }, 'languages[0]')
  const followUp = (after_hours: unknown) => ({ after_hours, channel: 'whatsapp' })
  for (const hours of [0, 169, 1.5])
    await assertRejected({ follow_ups: [followUp(hours)] }, 'follow_ups[0].after_hours')
  await assertRejected({ follow_ups: Array(6).fill(followUp(5)) }, 'follow_ups')
  await assertRejected({ follow_ups: [{ ...followUp(5), note: '' }] }, 'follow_ups[0].note')
  await assertRejected({ colour: 'red', status: 'archived' }, 'colour', 'status')
  await assertRejected(
    { channels: ['sms'], follow_ups: [followUp(1), { after_hours: 2, channel: 'sms' }, followUp(3)] },
    'follow_ups[0].channel',
    'follow_ups[2].channel',
  )
})

test('replacing resets omitted fields to their defaults', async () => {
  const { fixtures, clock, put, scope } = await setUp()
  const { workflow_id } = await fixtures.createWorkflow(scope, { description: 'Old', languages: ['hi', 'en'] })
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
  const { fixtures, clock, put, remove, scope } = await setUp()
  const { workflow_id } = await fixtures.createWorkflow(scope)
  const archiveResponse = await remove(`/workflows/${workflow_id}`)
  assert.deepEqual([archiveResponse.status, archiveResponse.body.data.status], [200, 'archived'])
  clock.advance(1000)
  const repeatedResponse = await remove(`/workflows/${workflow_id}`)
  assert.deepEqual([repeatedResponse.status, repeatedResponse.body.data], [200, archiveResponse.body.data])
  const changeResponse = await put(`/workflows/${workflow_id}`, {
    name: 'x',
    follow_ups: [{ after_hours: 1, channel: 'sms' }],
  })
  assert.deepEqual([changeResponse.status, changeResponse.body.error.code], [409, 'CONFLICT'])
  assert.equal((await remove('/workflows/WF_BC_01ARZ3NDEKTSV4RRFFQ69G5FAV')).status, 404)
})

test('a workflow created in the playground can be read, but not changed', async () => {
  const { fixtures, get, put, remove, scope } = await setUp()
  const { workflow_id } = await fixtures.createWorkflow(scope, {}, 'playground')
  assert.equal((await get(`/workflows/${workflow_id}`)).body.data.created_via, 'playground')
  for (const response of [
    await put(`/workflows/${workflow_id}`, { name: 'x' }),
    await remove(`/workflows/${workflow_id}`),
  ])
    assert.deepEqual([response.status, response.body.error.code], [403, 'FORBIDDEN'])
})

test('a workflow cannot be archived while a mandate that is not archived uses it', async () => {
  const { fixtures, post, get, remove, scope } = await setUp()
  const { workflow_id } = await fixtures.createWorkflow(scope)
  const [firstMandate, secondMandate] = [
    await fixtures.createMandate(scope, { workflow_id }),
    await fixtures.createMandate(scope, { workflow_id }),
  ]
  assert.equal((await get(`/workflows/${workflow_id}`)).body.data.mandates, 2)
  const inUseResponse = await remove(`/workflows/${workflow_id}`)
  assert.deepEqual([inUseResponse.status, inUseResponse.body.error.code], [409, 'WORKFLOW_IN_USE'])
  await remove(`/mandates/${firstMandate.mandate_id}`)
  assert.equal((await remove(`/workflows/${workflow_id}`)).status, 409)
  await remove(`/mandates/${secondMandate.mandate_id}`)
  const archiveResponse = await remove(`/workflows/${workflow_id}`)
  assert.deepEqual([archiveResponse.status, archiveResponse.body.data.mandates], [200, 0])
  const lateResponse = await post('/mandates', aMandate(workflow_id))
  assert.deepEqual([lateResponse.status, lateResponse.body.error.code], [409, 'CONFLICT'])
})

test('a workflow is not visible to other organisations and modes', async () => {
  const { app, fixtures, scope } = await setUp()
  const { workflow_id } = await fixtures.createWorkflow(scope)
  for (const otherPartner of [await createPartner(app), await createPartner(app, 'test', scope.orgId)]) {
    assert.equal((await otherPartner.get(`/workflows/${workflow_id}`)).status, 404)
    assert.equal((await otherPartner.put(`/workflows/${workflow_id}`, { name: 'x' })).status, 404)
    assert.equal((await otherPartner.delete(`/workflows/${workflow_id}`)).status, 404)
    assert.deepEqual((await otherPartner.get('/workflows')).body.data, { items: [], next_cursor: null })
  }
})

test('workflows are listed newest first, in pages', async () => {
  const { app, fixtures } = await setUp()
  const caller = await createPartner(app)
  const createdIds: string[] = []
  for (let count = 0; count < 5; count++) createdIds.unshift((await fixtures.createWorkflow(caller.scope)).workflow_id)
  const firstPage = (await caller.get('/workflows?limit=2')).body.data
  await fixtures.createWorkflow(caller.scope)
  const secondPage = (await caller.get(`/workflows?limit=3&cursor=${firstPage.next_cursor}`)).body.data
  const ids = [...firstPage.items, ...secondPage.items].map(({ workflow_id }: any) => workflow_id)
  assert.deepEqual(ids, createdIds)
  assert.equal(secondPage.next_cursor, null)
  assert.deepEqual(errorPaths(await caller.get('/workflows?limit=101')), ['query.limit'])
  const otherCaller = await createPartner(app)
  assert.deepEqual(errorPaths(await otherCaller.get(`/workflows?cursor=${firstPage.next_cursor}`)), ['query.cursor'])
})

test('if a mandate is created while its workflow is archived, one of the two fails', async () => {
  const { context, fixtures, clock, get, scope } = await setUp()
  const deps = { clock, skills: new LoadedSkills(context.catalogue.current), writer: context.writer }
  const outcomes = new Set<string>()
  for (let round = 0; round < 30; round++) {
    const { workflow_id } = await fixtures.createWorkflow(scope)
    const create = () => context.db.transaction((tx) => createMandate(tx, scope, deps, aMandate(workflow_id), 'api'))
    const archive = () => context.db.transaction((tx) => archiveWorkflow(tx, scope, clock, workflow_id))
    const calls = round % 2 ? [create(), archive()] : [archive(), create()]
    const statuses = (await Promise.allSettled<object>(calls)).map(({ status }) => status)
    assert.deepEqual([...statuses].sort(), ['fulfilled', 'rejected'])
    outcomes.add(statuses[round % 2 ? 0 : 1]!) // outcome of creating the mandate
    const { mandates, status } = (await get(`/workflows/${workflow_id}`)).body.data
    assert.deepEqual([mandates, status], status === 'archived' ? [0, 'archived'] : [1, 'active'])
  }
  assert.equal(outcomes.size, 2, 'each of the two came first at least once')
})

test('a key without the scope is rejected', async () => {
  const { app, fixtures, scope } = await setUp()
  const reader = app.as(await fixtures.createPartnerKey(scope.orgId, { scopes: ['workflows:read'] }))
  const response = await reader.post('/workflows', { name: 'x' })
  assert.deepEqual([response.status, response.body.error.code], [403, problem('SCOPE_MISSING', '').code])
})

test('the number of mandates of a workflow is exact, and reading it does not read the mandates', async (t) => {
  const app = await startApp(t)
  const { context, fixtures } = app
  const { orgId, key } = await app.fixtures.createOrg()
  const scope = { orgId, mode: 'live' as const }
  const first = await fixtures.createWorkflow(scope)
  const second = await fixtures.createWorkflow(scope)
  const mandates = await Promise.all(
    [first, first, first, second].map(({ workflow_id }) => fixtures.createMandate(scope, { workflow_id })),
  )
  assert.equal((await app.as(key).delete(`/mandates/${mandates[0]!.mandate_id}`)).status, 200)
  // Reading a locked table would wait until the end of this transaction.
  const blocker = await context.db.pool.connect()
  await blocker.query('begin')
  await blocker.query('lock table mandates in access exclusive mode')
  const timeout = AbortSignal.timeout(20_000)
  const unblocked = once(timeout, 'abort').then(() => undefined)
  const response = await Promise.race([app.as(key).get('/workflows'), unblocked])
  await blocker.query('rollback')
  blocker.release()
  const items = response?.body.data.items ?? []
  assert.deepEqual(
    items.map(({ workflow_id, mandates: count }: any) => [workflow_id, count]),
    [
      [second.workflow_id, 1],
      [first.workflow_id, 2],
    ],
  )
})
