import assert from 'node:assert/strict'
import { test } from 'node:test'
import { aMandate, prepareMandates, startApp } from '../../test/support/app.ts'
import type { TestResponse } from '../../test/support/call.ts'
import { oncePerFile } from '../../test/support/cleanup.ts'
import { createPartner, errorPaths } from '../../test/support/partners.ts'
import { problem } from '../api/problem.ts'
import { HOUR, MINUTE } from '../platform/clock.ts'
import { replaceWorkflow } from '../workflows/workflows.ts'
import { beforeMandateArchived } from './mandates.ts'

const UNKNOWN_MANDATE_ID = 'JM_01ARZ3NDEKTSV4RRFFQ69G5FAV'

function assertProblem(response: TestResponse, status: number, code: string) {
  assert.deepEqual([response.status, response.body.error?.code], [status, code], JSON.stringify(response.body))
}

/** Returns the body of a PUT request: a mandate without job_id. */
function aReplacement(workflowId: string, change: object = {}) {
  const { job_id: _job, ...body } = aMandate(workflowId)
  return { ...body, ...change }
}

const startSharedApp = oncePerFile((t) => startApp(t))

async function setUp() {
  const app = await startSharedApp()
  const { context, fixtures, clock } = app
  const { post, get, put, delete: remove, scope } = await createPartner(app)
  const { workflow_id } = await fixtures.createWorkflow(scope)
  return { app, context, fixtures, clock, post, get, put, remove, scope, workflow_id }
}

test('creating a mandate returns a summary, reading it returns all fields', async () => {
  const { context, clock, post, get, workflow_id } = await setUp()
  const now = new Date(clock.now()).toISOString()
  const createResponse = await post('/mandates', { ...aMandate(workflow_id), job_id: 'job-1' })
  assert.equal(createResponse.status, 202)
  const { mandate_id } = createResponse.body.data
  assert.match(mandate_id, /^JM_[0-9A-HJKMNP-TV-Z]{26}$/)
  const methods = ['data_enrichment', 'skill_verification', 'interest_collection']
  assert.deepEqual(createResponse.body.data, {
    mandate_id,
    job_id: 'job-1',
    status: 'preparing',
    flow_version: 1,
    methods,
    changed: true,
    warnings: [],
  })
  const preparingMandate = (await get(`/mandates/${mandate_id}`)).body.data
  assert.deepEqual([preparingMandate.questions, preparingMandate.failure, preparingMandate.version], [null, null, 1])

  await prepareMandates(context)
  const { questions, ...ready } = (await get(`/mandates/${mandate_id}`)).body.data
  const [event] = (await get('/events?types=mandate.ready')).body.data.items
  assert.deepEqual(event.data, { ...ready, questions }, 'the event carries the same record')
  assert.deepEqual(ready, {
    ...createResponse.body.data,
    ...aMandate(workflow_id),
    status: 'ready',
    changed: false,
    location_type: 'india',
    enrichment_questions: [
      { key: 'licence', type: 'yes_no', text: 'Do you hold a wireman licence?', knockout: 'no', required: true },
      { key: 'notice', type: 'voice', text: 'When can you start?', required: false },
    ],
    created_via: 'api',
    failure: null,
    version: 2,
    created_at: now,
    updated_at: now,
  })
  assert.deepEqual(questions.enrichment[0], {
    key: 'licence',
    type: 'yes_no',
    required: true,
    text: { en: 'Do you hold a wireman licence?' },
  })
  assert.deepEqual(
    questions.skills.map(({ skill_id, items }: any) => [skill_id, items.length]),
    [
      ['sk_2001', 3],
      ['sk_2005', 3],
      ['sk_2020', 3],
    ],
  )
  for (const { items } of questions.skills)
    for (const item of items) {
      assert.deepEqual(Object.keys(item).sort(), ['difficulty', 'options', 'stem'])
      assert.equal(item.options.en.length, 4)
    }
  assert.equal(questions.interest, true)
})

test('only questions of the enabled methods are prepared', async () => {
  const { fixtures, get, scope, workflow_id } = await setUp()
  const { mandate_id } = await fixtures.createMandate(scope, { workflow_id, methods: ['interest_collection'] })
  const { questions } = (await get(`/mandates/${mandate_id}`)).body.data
  assert.deepEqual(questions, { enrichment: [], skills: [], interest: true })
})

test('a job can have one active mandate', async () => {
  const { fixtures, post, get, remove, scope, workflow_id } = await setUp()
  const body = { ...aMandate(workflow_id), job_id: 'one-per-job' }
  const firstResponse = await post('/mandates', body)
  assertProblem(await post('/mandates', body), 409, 'CONFLICT')
  const { mandate_id } = await fixtures.createMandate({ ...scope, mode: 'test' }, { job_id: 'one-per-job' })
  assert.ok(mandate_id, 'TEST and LIVE are separate')
  await remove(`/mandates/${firstResponse.body.data.mandate_id}`)
  assert.equal((await post('/mandates', body)).status, 202)
  const listResponse = await get('/mandates?job_id=one-per-job')
  assert.deepEqual(
    listResponse.body.data.items.map(({ status }: any) => status),
    ['preparing', 'archived'],
  )
  const invalidBody = { ...body, skills: [{ skill_id: 'sk_999999999' }] }
  assertProblem(await post('/mandates', invalidBody), 400, 'VALIDATION_FAILED')
  const responses = await Promise.all(Array.from({ length: 8 }, () => post('/mandates', { ...body, job_id: 'race' })))
  assert.deepEqual(responses.map(({ status }) => status).sort(), [202, ...Array(7).fill(409)])
})

test('a retry with the same Idempotency-Key has no further effect', async () => {
  const { context, post, put, workflow_id } = await setUp()
  const body = { ...aMandate(workflow_id), job_id: 'idempotent' }
  const firstResponse = await post('/mandates', body, { idempotencyKey: 'k1' })
  const repeatedResponse = await post('/mandates', body, { idempotencyKey: 'k1' })
  assert.deepEqual([repeatedResponse.status, repeatedResponse.body], [202, firstResponse.body])
  assert.equal(repeatedResponse.headers.get('idempotency-replayed'), 'true')
  const preparingResponse = await put(`/mandates/${firstResponse.body.data.mandate_id}`, aReplacement(workflow_id), {
    idempotencyKey: 'k2',
  })
  assertProblem(preparingResponse, 409, 'CONFLICT')
  await prepareMandates(context)
  const laterResponse = await put(`/mandates/${firstResponse.body.data.mandate_id}`, aReplacement(workflow_id), {
    idempotencyKey: 'k2',
  })
  assert.equal(laterResponse.status, 200, 'a response with Retry-After is not stored')
})

test('a stale cached workflow never leads to a wrong result', async () => {
  const { context, fixtures, clock, post, scope } = await setUp()
  const { workflow_id: workflowId } = await fixtures.createWorkflow(scope)
  const create = (change: object = {}) => post('/mandates', { ...aMandate(workflowId), ...change })
  assert.equal((await create()).status, 202)
  const cachedMandate = (await create({ job_id: 'cached' })).body.data
  assert.deepEqual([cachedMandate.status, cachedMandate.methods.length], ['preparing', 3])
  assertProblem(await create({ job_id: 'cached' }), 409, 'CONFLICT')
  // Change the workflow as another process would: the cache of this process is not notified.
  const input = { name: 'x', default_methods: ['data_enrichment' as const], languages: ['ta' as const] }
  await context.db.transaction((tx) => replaceWorkflow(tx, scope, clock, workflowId, input))
  const laterMandate = (await create()).body.data
  assert.deepEqual([laterMandate.methods, laterMandate.warnings.length], [['data_enrichment'], 1])
  assertProblem(await create({ enrichment_questions: [] }), 400, 'VALIDATION_FAILED')
  await context.db.transaction((tx) => replaceWorkflow(tx, scope, clock, workflowId, { name: 'x' }))
  assert.equal(
    (await create({ enrichment_questions: [] })).status,
    202,
    'errors are not based on the cached workflow either',
  )
  await context.db.queries
    .updateTable('workflows')
    .set({ status: 'archived' })
    .where('workflow_id', '=', workflowId)
    .execute()
  assertProblem(await create(), 409, 'CONFLICT')
})

test('if a mandate is created while its workflow is archived, one of the two requests fails', async () => {
  const { fixtures, post, remove, scope } = await setUp()
  const outcomes = new Set<string>()
  for (let round = 0; round < 12; round++) {
    const { workflow_id: workflowId } = await fixtures.createWorkflow(scope)
    const firstResponse = await post('/mandates', aMandate(workflowId))
    await remove(`/mandates/${firstResponse.body.data.mandate_id}`)
    const create = () => post('/mandates', aMandate(workflowId))
    const archive = () => remove(`/workflows/${workflowId}`)
    const responses = await Promise.all(round % 2 ? [create(), archive()] : [archive(), create()])
    const [createResponse, archiveResponse] = round % 2 ? responses : responses.toReversed()
    outcomes.add(`${createResponse!.status} ${archiveResponse!.status}`)
  }
  for (const outcome of outcomes) assert.ok(['202 409', '409 200'].includes(outcome), outcome)
})

test('replacing a mandate reports errors in the documented order', async () => {
  const { context, fixtures, post, put, remove, scope, workflow_id } = await setUp()
  const replace = (id: string, body: object) => put(`/mandates/${id}`, body)
  const invalidReplacement = aReplacement(workflow_id, { skills: [{ skill_id: 'sk_999999999' }] })
  const otherWorkflowId = (await fixtures.createWorkflow(scope)).workflow_id
  assertProblem(await replace(UNKNOWN_MANDATE_ID, { ...invalidReplacement, title: '' }), 400, 'VALIDATION_FAILED')
  assertProblem(await replace(UNKNOWN_MANDATE_ID, invalidReplacement), 404, 'NOT_FOUND')
  const jobIdResponse = await replace(UNKNOWN_MANDATE_ID, aReplacement(workflow_id, { job_id: 'x' }))
  assert.deepEqual(errorPaths(jobIdResponse), ['job_id'])
  assert.deepEqual(errorPaths(await replace('JM_short', aReplacement(workflow_id))), ['path.mandate_id'])

  const playgroundMandate = await fixtures.createMandate(scope, { workflow_id }, 'playground')
  await context.db.queries
    .updateTable('mandates')
    .set({ status: 'archived' })
    .where('mandate_id', '=', playgroundMandate.mandate_id)
    .execute()
  assertProblem(await replace(playgroundMandate.mandate_id, invalidReplacement), 403, 'FORBIDDEN')

  const archivedMandate = await fixtures.createMandate(scope, { workflow_id })
  await remove(`/mandates/${archivedMandate.mandate_id}`)
  const conflictResponse = await replace(archivedMandate.mandate_id, aReplacement(otherWorkflowId))
  assertProblem(conflictResponse, 409, 'CONFLICT')
  assert.equal(conflictResponse.headers.get('retry-after'), null)

  const newMandateId = (await post('/mandates', aMandate(workflow_id))).body.data.mandate_id
  for (const body of [aReplacement(workflow_id), aReplacement(otherWorkflowId), invalidReplacement]) {
    const preparingResponse = await replace(newMandateId, body)
    assertProblem(preparingResponse, 409, 'CONFLICT')
    assert.ok(Number(preparingResponse.headers.get('retry-after')) >= 1)
  }
  await prepareMandates(context)
  const movedResponse = await replace(newMandateId, { ...invalidReplacement, workflow_id: otherWorkflowId })
  assertProblem(movedResponse, 409, 'CONFLICT')
  assert.equal(movedResponse.headers.get('retry-after'), null)
  const tooManySkills = Array.from({ length: 11 }, () => ({ skill_id: 'sk_999999999' }))
  assertProblem(
    await replace(newMandateId, aReplacement(workflow_id, { skills: tooManySkills })),
    422,
    'LIMIT_EXCEEDED',
  )
  assertProblem(await replace(newMandateId, invalidReplacement), 400, 'VALIDATION_FAILED')
  const changeResponse = await replace(newMandateId, aReplacement(workflow_id, { title: 'Foreman' }))
  assert.equal(changeResponse.status, 202)
  const { status, flow_version, changed: isChanged } = changeResponse.body.data
  assert.deepEqual([status, flow_version, isChanged], ['preparing', 2, true])
})

test('replacing a mandate with an equivalent body changes nothing', async () => {
  const { context, clock, post, get, put, workflow_id } = await setUp()
  const createResponse = await post(
    '/mandates',
    {
      ...aMandate(workflow_id),
      location: undefined,
      location_type: 'abroad',
      countries: ['qa', 'AE'],
      salary: { min: 1, max: 2 },
    },
    { onBehalfOf: 'asha' },
  )
  const path = `/mandates/${createResponse.body.data.mandate_id}`
  await prepareMandates(context)
  const { enrichment_questions: questions = [], ...rest } = aReplacement(workflow_id, { location: undefined })
  const equivalentBody = {
    salary: { period: 'month', max: 2.0, min: 1, currency: 'INR' },
    enrichment_questions: questions.map((question) => ({ required: true, ...question })),
    methods: ['interest_collection', 'data_enrichment', 'skill_verification'],
    ...rest,
    countries: ['AE', 'Qa'],
    location_type: 'abroad',
  }
  const mandateBefore = (await get(path)).body.data
  clock.advance(1000)
  for (const [body, options] of [
    [equivalentBody, { onBehalfOf: 'asha' }],
    [{ ...equivalentBody, owner: { external_user_id: 'asha' } }, {}],
    [{ ...equivalentBody, owner: { external_user_id: 'asha' } }, { onBehalfOf: 'ravi' }],
    [{ ...equivalentBody, methods: undefined }, { onBehalfOf: 'asha' }],
  ] as const) {
    const response = await put(path, body, options)
    assert.equal(response.status, 200, JSON.stringify(response.body))
    assert.deepEqual([response.body.data.changed, response.body.data.flow_version], [false, 1])
  }
  assert.deepEqual((await get(path)).body.data, mandateBefore, 'unchanged')
  for (const [body, options] of [
    [equivalentBody, {}],
    [equivalentBody, { onBehalfOf: 'ravi' }],
    [{ ...equivalentBody, skills: equivalentBody.skills.toReversed() }, { onBehalfOf: 'asha' }],
    [
      { ...equivalentBody, enrichment_questions: equivalentBody.enrichment_questions.toReversed() },
      { onBehalfOf: 'asha' },
    ],
    [{ ...equivalentBody, title: 'electrician' }, { onBehalfOf: 'asha' }],
  ] as const) {
    assert.equal((await put(path, body, options)).status, 202, 'a different owner, order or spelling is a change')
    await prepareMandates(context)
  }
})

test("sending an equal body changes nothing, even if the workflow's defaults have changed since", async () => {
  const { context, fixtures, get, put, scope } = await setUp()
  const workflowId = (await fixtures.createWorkflow(scope)).workflow_id
  const { mandate_id } = await fixtures.createMandate(scope, { workflow_id: workflowId })
  await put(`/workflows/${workflowId}`, { name: 'x', default_methods: ['interest_collection'] })
  const path = `/mandates/${mandate_id}`
  const allMethods = ['data_enrichment', 'skill_verification', 'interest_collection']
  const sameBodyResponse = await put(path, aReplacement(workflowId))
  assert.deepEqual(
    [sameBodyResponse.status, sameBodyResponse.body.data.methods],
    [200, allMethods],
    'the defaults at the time of creation',
  )
  assert.equal(
    (await put(path, aReplacement(workflowId, { methods: allMethods }))).status,
    200,
    'the same methods, sent explicitly',
  )
  assert.equal((await put(path, aReplacement(workflowId, { methods: ['interest_collection'] }))).status, 202)
  await prepareMandates(context)
  assert.equal((await put(path, aReplacement(workflowId))).status, 200, 'sent explicitly before, now the default')

  const changeResponse = await put(path, aReplacement(workflowId, { title: 'Wireman', methods: allMethods }))
  assert.equal(changeResponse.status, 202)
  await prepareMandates(context)
  const response = await put(path, aReplacement(workflowId, { title: 'Wireman' }))
  assert.deepEqual([response.status, response.body.data.methods], [202, ['interest_collection']])
  assert.deepEqual((await get(path)).body.data.methods, ['interest_collection'])
})

test('a mandate can be changed at most ten times per hour', async () => {
  const { context, fixtures, clock, put, scope, workflow_id } = await setUp()
  const { mandate_id } = await fixtures.createMandate(scope, { workflow_id })
  const change = (title: string) => put(`/mandates/${mandate_id}`, aReplacement(workflow_id, { title }))
  for (let count = 1; count <= 10; count++) {
    assert.equal((await change(`Title ${count}`)).status, 202)
    await prepareMandates(context)
    clock.advance(MINUTE)
  }
  const eleventhResponse = await change('Title 11')
  assertProblem(eleventhResponse, 409, 'CONFLICT')
  assert.equal(eleventhResponse.headers.get('retry-after'), String(50 * 60))
  assert.equal((await change('Title 10')).status, 200, 'an equal body is not a change')
  const invalidReplacement = aReplacement(workflow_id, { skills: [{ skill_id: 'sk_999999999' }] })
  assertProblem(await put(`/mandates/${mandate_id}`, invalidReplacement), 400, 'VALIDATION_FAILED')
  clock.advance(50 * MINUTE - 1)
  assert.equal((await change('Title 11')).headers.get('retry-after'), '1')
  clock.advance(1)
  const laterResponse = await change('Title 11')
  assert.deepEqual([laterResponse.status, laterResponse.body.data.flow_version], [202, 12])
  await prepareMandates(context)
  assertProblem(await change('Title 12'), 409, 'CONFLICT')
  clock.advance(HOUR)
  assert.equal((await change('Title 12')).status, 202)
})

test('only one of several concurrent changes succeeds; the others return a conflict', async () => {
  const { fixtures, get, put, scope, workflow_id } = await setUp()
  for (let round = 0; round < 5; round++) {
    const { mandate_id } = await fixtures.createMandate(scope, { workflow_id })
    const change = (title: string) => put(`/mandates/${mandate_id}`, aReplacement(workflow_id, { title }))
    const responses = await Promise.all(['A', 'B', 'C'].map(change))
    assert.deepEqual(responses.map(({ status }) => status).sort(), [202, 409, 409])
    for (const response of responses) if (response.status === 409) assert.ok(response.headers.get('retry-after'))
    assert.equal((await get(`/mandates/${mandate_id}`)).body.data.flow_version, 2)
  }
})

test('archiving is idempotent, and a hook can prevent it', async () => {
  const { context, fixtures, clock, post, get, remove, scope, workflow_id } = await setUp()
  const { mandate_id } = await fixtures.createMandate(scope, { workflow_id })
  const unregister = beforeMandateArchived.observe(async (_tx, mandate) => {
    if (mandate.mandate_id === mandate_id) throw problem('CONFLICT', 'A campaign is running.')
  })
  assertProblem(await remove(`/mandates/${mandate_id}`), 409, 'CONFLICT')
  unregister()
  const archiveResponse = await remove(`/mandates/${mandate_id}`)
  assert.deepEqual(
    [archiveResponse.status, archiveResponse.body.data.status, archiveResponse.body.data.changed],
    [200, 'archived', true],
  )
  const mandateBefore = (await get(`/mandates/${mandate_id}`)).body.data
  clock.advance(1000)
  const repeatedResponse = await remove(`/mandates/${mandate_id}`)
  assert.deepEqual(
    [repeatedResponse.status, repeatedResponse.body.data.status, repeatedResponse.body.data.changed],
    [200, 'archived', false],
  )
  assert.deepEqual((await get(`/mandates/${mandate_id}`)).body.data, mandateBefore)
  assertProblem(await remove(`/mandates/${UNKNOWN_MANDATE_ID}`), 404, 'NOT_FOUND')
  const playgroundMandate = await fixtures.createMandate(scope, { workflow_id }, 'playground')
  assertProblem(await remove(`/mandates/${playgroundMandate.mandate_id}`), 403, 'FORBIDDEN')
  assert.equal((await get(`/mandates/${playgroundMandate.mandate_id}`)).body.data.created_via, 'playground')
  const preparingId = (await post('/mandates', aMandate(workflow_id))).body.data.mandate_id
  assert.equal((await remove(`/mandates/${preparingId}`)).status, 200)
  await prepareMandates(context)
  assert.equal((await get(`/mandates/${preparingId}`)).body.data.status, 'archived')
})

test('only failed mandates can be retried', async () => {
  const { context, fixtures, post, get, scope, workflow_id } = await setUp()
  const { mandate_id } = await fixtures.createMandate(scope, { workflow_id })
  assertProblem(await post(`/mandates/${mandate_id}/retry`), 409, 'CONFLICT')
  const failedColumns = { status: 'failed', failure: 'No questions.' }
  await context.db.queries.updateTable('mandates').set(failedColumns).where('mandate_id', '=', mandate_id).execute()
  await context.db.queries.deleteFrom('mandate_flows').where('mandate_id', '=', mandate_id).execute()
  assert.equal((await get(`/mandates/${mandate_id}`)).body.data.failure, 'No questions.')
  const bodyResponse = await post(`/mandates/${mandate_id}/retry`, { now: true })
  assertProblem(bodyResponse, 400, 'VALIDATION_FAILED')
  assert.deepEqual(errorPaths(bodyResponse), ['now'])
  const retryResponse = await post(`/mandates/${mandate_id}/retry`, {})
  assert.deepEqual(
    [retryResponse.status, retryResponse.body.data.status, retryResponse.body.data.flow_version],
    [202, 'preparing', 1],
  )
  assert.equal(retryResponse.body.data.changed, true)
  assertProblem(await post(`/mandates/${mandate_id}/retry`), 409, 'CONFLICT')
  await prepareMandates(context)
  const { status, failure } = (await get(`/mandates/${mandate_id}`)).body.data
  assert.deepEqual([status, failure], ['ready', null])
  assertProblem(await post(`/mandates/${UNKNOWN_MANDATE_ID}/retry`), 404, 'NOT_FOUND')
  const playgroundMandate = await fixtures.createMandate(scope, { workflow_id }, 'playground')
  assertProblem(await post(`/mandates/${playgroundMandate.mandate_id}/retry`), 403, 'FORBIDDEN')
})

test('other organisations and modes cannot see the mandate', async () => {
  const { app, fixtures, scope, workflow_id } = await setUp()
  const { mandate_id } = await fixtures.createMandate(scope, { workflow_id })
  for (const otherPartner of [await createPartner(app), await createPartner(app, 'test', scope.orgId)]) {
    assertProblem(await otherPartner.get(`/mandates/${mandate_id}`), 404, 'NOT_FOUND')
    assertProblem(await otherPartner.put(`/mandates/${mandate_id}`, aReplacement(workflow_id)), 404, 'NOT_FOUND')
    assertProblem(await otherPartner.delete(`/mandates/${mandate_id}`), 404, 'NOT_FOUND')
    assertProblem(await otherPartner.post(`/mandates/${mandate_id}/retry`), 404, 'NOT_FOUND')
    const otherMandates = (await otherPartner.get('/mandates?limit=100')).body.data.items
    assert.ok(otherMandates.every((item: any) => item.mandate_id !== mandate_id))
  }
})

test('mandates are listed newest first, filtered and paginated', async () => {
  const { app, fixtures } = await setUp()
  const caller = await createPartner(app)
  const [oddWorkflow, evenWorkflow] = [
    await fixtures.createWorkflow(caller.scope),
    await fixtures.createWorkflow(caller.scope),
  ]
  const createdIds: string[] = []
  for (let count = 0; count < 6; count++) {
    const overrides = { workflow_id: (count % 2 ? oddWorkflow : evenWorkflow).workflow_id, job_id: `job:${count}` }
    createdIds.unshift((await fixtures.createMandate(caller.scope, overrides)).mandate_id)
  }
  await caller.delete(`/mandates/${createdIds[0]}`)
  const listIds = async (query: string) =>
    (await caller.get(`/mandates?${query}`)).body.data.items.map(({ mandate_id }: any) => mandate_id)
  assert.deepEqual(await listIds(''), createdIds)
  assert.deepEqual(await listIds('status=archived'), [createdIds[0]])
  assert.deepEqual(await listIds('status=ready'), createdIds.slice(1))
  assert.deepEqual(await listIds(`workflow_id=${oddWorkflow.workflow_id}`), [
    createdIds[0],
    createdIds[2],
    createdIds[4],
  ])
  assert.deepEqual(await listIds(`workflow_id=${oddWorkflow.workflow_id}&status=ready`), [createdIds[2], createdIds[4]])
  assert.deepEqual(await listIds('job_id=job:3'), [createdIds[2]])
  assert.deepEqual(await listIds(`job_id=job:3&workflow_id=${evenWorkflow.workflow_id}`), [])
  assert.deepEqual(await listIds('status=failed'), [])

  const firstPage = (await caller.get('/mandates?limit=4&status=ready')).body.data
  await fixtures.createMandate(caller.scope, { workflow_id: oddWorkflow.workflow_id })
  const secondPage = (await caller.get(`/mandates?limit=4&status=ready&cursor=${firstPage.next_cursor}`)).body.data
  assert.deepEqual(
    [...firstPage.items, ...secondPage.items].map(({ mandate_id }: any) => mandate_id),
    createdIds.slice(1),
  )
  assert.equal(secondPage.next_cursor, null)
  assert.equal(firstPage.items[0].changed, false)
  assert.ok(firstPage.items[0].questions.skills.length > 0 && firstPage.items[0].version > 1)
  for (const query of ['status=done', 'workflow_id=x', 'job_id=%20', 'limit=0', `cursor=${firstPage.next_cursor}`])
    assert.deepEqual(errorPaths(await caller.get(`/mandates?${query}`)), [`query.${query.split('=')[0]}`])
})

test('reading and writing mandates need their scopes', async () => {
  const { app, fixtures, scope, workflow_id } = await setUp()
  const reader = app.as(await fixtures.createPartnerKey(scope.orgId, { scopes: ['mandates:read'] }))
  assertProblem(await reader.post('/mandates', aMandate(workflow_id)), 403, 'SCOPE_MISSING')
  const writer = app.as(await fixtures.createPartnerKey(scope.orgId, { scopes: ['mandates:write'] }))
  assertProblem(await writer.get('/mandates'), 403, 'SCOPE_MISSING')
  assert.equal((await writer.post('/mandates', aMandate(workflow_id))).status, 202)
})
