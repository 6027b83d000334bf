import assert from 'node:assert/strict'
import { test } from 'node:test'
import { aMandate, prepareMandates, startApp } from '../../test/support/app.ts'
import type { TestResponse } from '../../test/support/call.ts'
import { oncePerFile } from '../../test/support/cleanup.ts'
import { errorPaths, partner } from '../../test/support/partners.ts'
import { problem } from '../api/problem.ts'
import { HOUR, MINUTE } from '../platform/clock.ts'
import { replaceWorkflow } from '../workflows/workflows.ts'
import { beforeMandateArchived } from './mandates.ts'

const UNKNOWN = 'JM_01ARZ3NDEKTSV4RRFFQ69G5FAV'

function assertProblem(response: TestResponse, status: number, code: string) {
  assert.deepEqual([response.status, response.body.error?.code], [status, code], JSON.stringify(response.body))
}

/** Returns the body of a PUT request: a mandate without job_id. */
function aReplacement(workflowId: string, change: object = {}) {
  const { job_id: _job, ...body } = aMandate(workflowId)
  return { ...body, ...change }
}

const startShared = oncePerFile((t) => startApp(t))

async function setUp() {
  const app = await startShared()
  const { context, given, clock } = app
  const { post, get, put, delete: remove, scope } = await partner(app)
  const { workflow_id } = await given.workflow(scope)
  return { app, context, given, clock, post, get, put, remove, scope, workflow_id }
}

test('creating a mandate returns a summary, reading it returns all fields', async () => {
  const { context, clock, post, get, workflow_id } = await setUp()
  const now = new Date(clock.now()).toISOString()
  const created = await post('/mandates', { ...aMandate(workflow_id), job_id: 'job-1' })
  assert.equal(created.status, 202)
  const { mandate_id } = created.body.data
  assert.match(mandate_id, /^JM_[0-9A-HJKMNP-TV-Z]{26}$/)
  const methods = ['data_enrichment', 'skill_verification', 'interest_collection']
  assert.deepEqual(created.body.data, {
    mandate_id,
    job_id: 'job-1',
    status: 'preparing',
    flow_version: 1,
    methods,
    changed: true,
    warnings: [],
  })
  const preparing = (await get(`/mandates/${mandate_id}`)).body.data
  assert.deepEqual([preparing.questions, preparing.failure, preparing.version], [null, null, 1])

  await prepareMandates(context)
  const { questions, ...ready } = (await get(`/mandates/${mandate_id}`)).body.data
  const [event] = (await get('/events?types=mandate.ready')).body.data.items
  assert.deepEqual(event.data, { ...ready, questions }, 'the event carries the same record')
  assert.deepEqual(ready, {
    ...created.body.data,
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
  const { given, get, scope, workflow_id } = await setUp()
  const { mandate_id } = await given.mandate(scope, { workflow_id, methods: ['interest_collection'] })
  const { questions } = (await get(`/mandates/${mandate_id}`)).body.data
  assert.deepEqual(questions, { enrichment: [], skills: [], interest: true })
})

test('a job can have one active mandate', async () => {
  const { given, post, get, remove, scope, workflow_id } = await setUp()
  const body = { ...aMandate(workflow_id), job_id: 'one-per-job' }
  const first = await post('/mandates', body)
  assertProblem(await post('/mandates', body), 409, 'CONFLICT')
  const { mandate_id } = await given.mandate({ ...scope, mode: 'test' }, { job_id: 'one-per-job' })
  assert.ok(mandate_id, 'TEST and LIVE are separate')
  await remove(`/mandates/${first.body.data.mandate_id}`)
  assert.equal((await post('/mandates', body)).status, 202)
  const found = await get('/mandates?job_id=one-per-job')
  assert.deepEqual(
    found.body.data.items.map(({ status }: any) => status),
    ['preparing', 'archived'],
  )
  const wrong = { ...body, skills: [{ skill_id: 'sk_999999999' }] }
  assertProblem(await post('/mandates', wrong), 400, 'VALIDATION_FAILED')
  const racing = await Promise.all(Array.from({ length: 8 }, () => post('/mandates', { ...body, job_id: 'race' })))
  assert.deepEqual(racing.map(({ status }) => status).sort(), [202, ...Array(7).fill(409)])
})

test('a retry with the same Idempotency-Key has no further effect', async () => {
  const { context, post, put, workflow_id } = await setUp()
  const body = { ...aMandate(workflow_id), job_id: 'idempotent' }
  const first = await post('/mandates', body, { idempotencyKey: 'k1' })
  const repeated = await post('/mandates', body, { idempotencyKey: 'k1' })
  assert.deepEqual([repeated.status, repeated.body], [202, first.body])
  assert.equal(repeated.headers.get('idempotency-replayed'), 'true')
  const preparing = await put(`/mandates/${first.body.data.mandate_id}`, aReplacement(workflow_id), {
    idempotencyKey: 'k2',
  })
  assertProblem(preparing, 409, 'CONFLICT')
  await prepareMandates(context)
  const later = await put(`/mandates/${first.body.data.mandate_id}`, aReplacement(workflow_id), {
    idempotencyKey: 'k2',
  })
  assert.equal(later.status, 200, 'a response with Retry-After is not stored')
})

test('a stale cached workflow never leads to a wrong result', async () => {
  const { context, given, clock, post, scope } = await setUp()
  const { workflow_id: own } = await given.workflow(scope)
  const create = (change: object = {}) => post('/mandates', { ...aMandate(own), ...change })
  assert.equal((await create()).status, 202)
  const fromCache = (await create({ job_id: 'cached' })).body.data
  assert.deepEqual([fromCache.status, fromCache.methods.length], ['preparing', 3])
  assertProblem(await create({ job_id: 'cached' }), 409, 'CONFLICT')
  // Change the workflow as another process would: the cache of this process is not notified.
  const input = { name: 'x', default_methods: ['data_enrichment' as const], languages: ['ta' as const] }
  await context.db.transaction((tx) => replaceWorkflow(tx, scope, clock, own, input))
  const later = (await create()).body.data
  assert.deepEqual([later.methods, later.warnings.length], [['data_enrichment'], 1])
  assertProblem(await create({ enrichment_questions: [] }), 400, 'VALIDATION_FAILED')
  await context.db.transaction((tx) => replaceWorkflow(tx, scope, clock, own, { name: 'x' }))
  assert.equal(
    (await create({ enrichment_questions: [] })).status,
    202,
    'errors are not based on the cached workflow either',
  )
  await context.db.queries.updateTable('workflows').set({ status: 'archived' }).where('workflow_id', '=', own).execute()
  assertProblem(await create(), 409, 'CONFLICT')
})

test('when a workflow is archived concurrently, either it is in use or the mandate is rejected', async () => {
  const { given, post, remove, scope } = await setUp()
  const outcomes = new Set<string>()
  for (let round = 0; round < 12; round++) {
    const { workflow_id: own } = await given.workflow(scope)
    const first = await post('/mandates', aMandate(own))
    await remove(`/mandates/${first.body.data.mandate_id}`)
    const create = () => post('/mandates', aMandate(own))
    const archive = () => remove(`/workflows/${own}`)
    const responses = await Promise.all(round % 2 ? [create(), archive()] : [archive(), create()])
    const [created, archived] = round % 2 ? responses : responses.toReversed()
    outcomes.add(`${created!.status} ${archived!.status}`)
  }
  for (const outcome of outcomes) assert.ok(['202 409', '409 200'].includes(outcome), outcome)
})

test('replacing a mandate reports errors in the documented order', async () => {
  const { context, given, post, put, remove, scope, workflow_id } = await setUp()
  const replace = (id: string, body: object) => put(`/mandates/${id}`, body)
  const broken = aReplacement(workflow_id, { skills: [{ skill_id: 'sk_999999999' }] })
  const other = (await given.workflow(scope)).workflow_id
  assertProblem(await replace(UNKNOWN, { ...broken, title: '' }), 400, 'VALIDATION_FAILED')
  assertProblem(await replace(UNKNOWN, broken), 404, 'NOT_FOUND')
  const job = await replace(UNKNOWN, aReplacement(workflow_id, { job_id: 'x' }))
  assert.deepEqual(errorPaths(job), ['job_id'])
  assert.deepEqual(errorPaths(await replace('JM_short', aReplacement(workflow_id))), ['path.mandate_id'])

  const fromPlayground = await given.mandate(scope, { workflow_id }, 'playground')
  await context.db.queries
    .updateTable('mandates')
    .set({ status: 'archived' })
    .where('mandate_id', '=', fromPlayground.mandate_id)
    .execute()
  assertProblem(await replace(fromPlayground.mandate_id, broken), 403, 'FORBIDDEN')

  const archived = await given.mandate(scope, { workflow_id })
  await remove(`/mandates/${archived.mandate_id}`)
  const conflict = await replace(archived.mandate_id, aReplacement(other))
  assertProblem(conflict, 409, 'CONFLICT')
  assert.equal(conflict.headers.get('retry-after'), null)

  const fresh = (await post('/mandates', aMandate(workflow_id))).body.data.mandate_id
  for (const body of [aReplacement(workflow_id), aReplacement(other), broken]) {
    const preparing = await replace(fresh, body)
    assertProblem(preparing, 409, 'CONFLICT')
    assert.ok(Number(preparing.headers.get('retry-after')) >= 1)
  }
  await prepareMandates(context)
  const moved = await replace(fresh, { ...broken, workflow_id: other })
  assertProblem(moved, 409, 'CONFLICT')
  assert.equal(moved.headers.get('retry-after'), null)
  const many = Array.from({ length: 11 }, () => ({ skill_id: 'sk_999999999' }))
  assertProblem(await replace(fresh, aReplacement(workflow_id, { skills: many })), 422, 'LIMIT_EXCEEDED')
  assertProblem(await replace(fresh, broken), 400, 'VALIDATION_FAILED')
  const changed = await replace(fresh, aReplacement(workflow_id, { title: 'Foreman' }))
  assert.equal(changed.status, 202)
  const { status, flow_version, changed: isChanged } = changed.body.data
  assert.deepEqual([status, flow_version, isChanged], ['preparing', 2, true])
})

test('an equivalent body changes nothing', async () => {
  const { context, clock, post, get, put, workflow_id } = await setUp()
  const created = await post(
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
  const path = `/mandates/${created.body.data.mandate_id}`
  await prepareMandates(context)
  const { enrichment_questions: questions = [], ...rest } = aReplacement(workflow_id, { location: undefined })
  const same = {
    salary: { period: 'month', max: 2.0, min: 1, currency: 'INR' },
    enrichment_questions: questions.map((question) => ({ required: true, ...question })),
    methods: ['interest_collection', 'data_enrichment', 'skill_verification'],
    ...rest,
    countries: ['AE', 'Qa'],
    location_type: 'abroad',
  }
  const before = (await get(path)).body.data
  clock.advance(1000)
  for (const [body, options] of [
    [same, { onBehalfOf: 'asha' }],
    [{ ...same, owner: { external_user_id: 'asha' } }, {}],
    [{ ...same, owner: { external_user_id: 'asha' } }, { onBehalfOf: 'ravi' }],
    [{ ...same, methods: undefined }, { onBehalfOf: 'asha' }],
  ] as const) {
    const response = await put(path, body, options)
    assert.equal(response.status, 200, JSON.stringify(response.body))
    assert.deepEqual([response.body.data.changed, response.body.data.flow_version], [false, 1])
  }
  assert.deepEqual((await get(path)).body.data, before, 'unchanged')
  for (const [body, options] of [
    [same, {}],
    [same, { onBehalfOf: 'ravi' }],
    [{ ...same, skills: same.skills.toReversed() }, { onBehalfOf: 'asha' }],
    [{ ...same, enrichment_questions: same.enrichment_questions.toReversed() }, { onBehalfOf: 'asha' }],
    [{ ...same, title: 'electrician' }, { onBehalfOf: 'asha' }],
  ] as const) {
    assert.equal((await put(path, body, options)).status, 202, 'a different owner, order or spelling is a change')
    await prepareMandates(context)
  }
})

test("sending an equal body changes nothing, even if the workflow's defaults have changed since", async () => {
  const { context, given, get, put, scope } = await setUp()
  const own = (await given.workflow(scope)).workflow_id
  const { mandate_id } = await given.mandate(scope, { workflow_id: own })
  await put(`/workflows/${own}`, { name: 'x', default_methods: ['interest_collection'] })
  const path = `/mandates/${mandate_id}`
  const all = ['data_enrichment', 'skill_verification', 'interest_collection']
  const same = await put(path, aReplacement(own))
  assert.deepEqual([same.status, same.body.data.methods], [200, all], 'the defaults at the time of creation')
  assert.equal((await put(path, aReplacement(own, { methods: all }))).status, 200, 'the same methods, sent explicitly')
  assert.equal((await put(path, aReplacement(own, { methods: ['interest_collection'] }))).status, 202)
  await prepareMandates(context)
  assert.equal((await put(path, aReplacement(own))).status, 200, 'sent explicitly before, now the default')

  const changed = await put(path, aReplacement(own, { title: 'Wireman', methods: all }))
  assert.equal(changed.status, 202)
  await prepareMandates(context)
  const response = await put(path, aReplacement(own, { title: 'Wireman' }))
  assert.deepEqual([response.status, response.body.data.methods], [202, ['interest_collection']])
  assert.deepEqual((await get(path)).body.data.methods, ['interest_collection'])
})

test('a mandate can be changed ten times per hour', async () => {
  const { context, given, clock, put, scope, workflow_id } = await setUp()
  const { mandate_id } = await given.mandate(scope, { workflow_id })
  const change = (title: string) => put(`/mandates/${mandate_id}`, aReplacement(workflow_id, { title }))
  for (let count = 1; count <= 10; count++) {
    assert.equal((await change(`Title ${count}`)).status, 202)
    await prepareMandates(context)
    clock.advance(MINUTE)
  }
  const eleventh = await change('Title 11')
  assertProblem(eleventh, 409, 'CONFLICT')
  assert.equal(eleventh.headers.get('retry-after'), String(50 * 60))
  assert.equal((await change('Title 10')).status, 200, 'an equal body is not a change')
  const broken = aReplacement(workflow_id, { skills: [{ skill_id: 'sk_999999999' }] })
  assertProblem(await put(`/mandates/${mandate_id}`, broken), 400, 'VALIDATION_FAILED')
  clock.advance(50 * MINUTE - 1)
  assert.equal((await change('Title 11')).headers.get('retry-after'), '1')
  clock.advance(1)
  const later = await change('Title 11')
  assert.deepEqual([later.status, later.body.data.flow_version], [202, 12])
  await prepareMandates(context)
  assertProblem(await change('Title 12'), 409, 'CONFLICT')
  clock.advance(HOUR)
  assert.equal((await change('Title 12')).status, 202)
})

test('only one of several concurrent changes succeeds; the others return a conflict', async () => {
  const { given, get, put, scope, workflow_id } = await setUp()
  for (let round = 0; round < 5; round++) {
    const { mandate_id } = await given.mandate(scope, { workflow_id })
    const change = (title: string) => put(`/mandates/${mandate_id}`, aReplacement(workflow_id, { title }))
    const responses = await Promise.all(['A', 'B', 'C'].map(change))
    assert.deepEqual(responses.map(({ status }) => status).sort(), [202, 409, 409])
    for (const response of responses) if (response.status === 409) assert.ok(response.headers.get('retry-after'))
    assert.equal((await get(`/mandates/${mandate_id}`)).body.data.flow_version, 2)
  }
})

test('archiving is idempotent, and a hook can prevent it', async () => {
  const { context, given, clock, post, get, remove, scope, workflow_id } = await setUp()
  const { mandate_id } = await given.mandate(scope, { workflow_id })
  const unregister = beforeMandateArchived.observe(async (_tx, mandate) => {
    if (mandate.mandate_id === mandate_id) throw problem('CONFLICT', 'A campaign is running.')
  })
  assertProblem(await remove(`/mandates/${mandate_id}`), 409, 'CONFLICT')
  unregister()
  const archived = await remove(`/mandates/${mandate_id}`)
  assert.deepEqual([archived.status, archived.body.data.status, archived.body.data.changed], [200, 'archived', true])
  const before = (await get(`/mandates/${mandate_id}`)).body.data
  clock.advance(1000)
  const repeated = await remove(`/mandates/${mandate_id}`)
  assert.deepEqual([repeated.status, repeated.body.data.status, repeated.body.data.changed], [200, 'archived', false])
  assert.deepEqual((await get(`/mandates/${mandate_id}`)).body.data, before)
  assertProblem(await remove(`/mandates/${UNKNOWN}`), 404, 'NOT_FOUND')
  const fromPlayground = await given.mandate(scope, { workflow_id }, 'playground')
  assertProblem(await remove(`/mandates/${fromPlayground.mandate_id}`), 403, 'FORBIDDEN')
  assert.equal((await get(`/mandates/${fromPlayground.mandate_id}`)).body.data.created_via, 'playground')
  const preparing = (await post('/mandates', aMandate(workflow_id))).body.data.mandate_id
  assert.equal((await remove(`/mandates/${preparing}`)).status, 200)
  await prepareMandates(context)
  assert.equal((await get(`/mandates/${preparing}`)).body.data.status, 'archived')
})

test('only failed mandates can be retried', async () => {
  const { context, given, post, get, scope, workflow_id } = await setUp()
  const { mandate_id } = await given.mandate(scope, { workflow_id })
  assertProblem(await post(`/mandates/${mandate_id}/retry`), 409, 'CONFLICT')
  const failed = { status: 'failed', failure: 'No questions.' }
  await context.db.queries.updateTable('mandates').set(failed).where('mandate_id', '=', mandate_id).execute()
  await context.db.queries.deleteFrom('mandate_flows').where('mandate_id', '=', mandate_id).execute()
  assert.equal((await get(`/mandates/${mandate_id}`)).body.data.failure, 'No questions.')
  const withBody = await post(`/mandates/${mandate_id}/retry`, { now: true })
  assertProblem(withBody, 400, 'VALIDATION_FAILED')
  assert.deepEqual(errorPaths(withBody), ['now'])
  const retried = await post(`/mandates/${mandate_id}/retry`, {})
  assert.deepEqual([retried.status, retried.body.data.status, retried.body.data.flow_version], [202, 'preparing', 1])
  assertProblem(await post(`/mandates/${mandate_id}/retry`), 409, 'CONFLICT')
  await prepareMandates(context)
  const { status, failure } = (await get(`/mandates/${mandate_id}`)).body.data
  assert.deepEqual([status, failure], ['ready', null])
  assertProblem(await post(`/mandates/${UNKNOWN}/retry`), 404, 'NOT_FOUND')
  const fromPlayground = await given.mandate(scope, { workflow_id }, 'playground')
  assertProblem(await post(`/mandates/${fromPlayground.mandate_id}/retry`), 403, 'FORBIDDEN')
})

test('other organisations and modes cannot see the mandate', async () => {
  const { app, given, scope, workflow_id } = await setUp()
  const { mandate_id } = await given.mandate(scope, { workflow_id })
  for (const other of [await partner(app), await partner(app, 'test', scope.orgId)]) {
    assertProblem(await other.get(`/mandates/${mandate_id}`), 404, 'NOT_FOUND')
    assertProblem(await other.put(`/mandates/${mandate_id}`, aReplacement(workflow_id)), 404, 'NOT_FOUND')
    assertProblem(await other.delete(`/mandates/${mandate_id}`), 404, 'NOT_FOUND')
    assertProblem(await other.post(`/mandates/${mandate_id}/retry`), 404, 'NOT_FOUND')
    const listed = (await other.get('/mandates?limit=100')).body.data.items
    assert.ok(listed.every((item: any) => item.mandate_id !== mandate_id))
  }
})

test('the list is newest first, filtered and paginated', async () => {
  const { app, given } = await setUp()
  const caller = await partner(app)
  const [a, b] = [await given.workflow(caller.scope), await given.workflow(caller.scope)]
  const created: string[] = []
  for (let count = 0; count < 6; count++) {
    const own = { workflow_id: (count % 2 ? a : b).workflow_id, job_id: `job:${count}` }
    created.unshift((await given.mandate(caller.scope, own)).mandate_id)
  }
  await caller.delete(`/mandates/${created[0]}`)
  const ids = async (query: string) =>
    (await caller.get(`/mandates?${query}`)).body.data.items.map(({ mandate_id }: any) => mandate_id)
  assert.deepEqual(await ids(''), created)
  assert.deepEqual(await ids('status=archived'), [created[0]])
  assert.deepEqual(await ids('status=ready'), created.slice(1))
  assert.deepEqual(await ids(`workflow_id=${a.workflow_id}`), [created[0], created[2], created[4]])
  assert.deepEqual(await ids(`workflow_id=${a.workflow_id}&status=ready`), [created[2], created[4]])
  assert.deepEqual(await ids('job_id=job:3'), [created[2]])
  assert.deepEqual(await ids(`job_id=job:3&workflow_id=${b.workflow_id}`), [])
  assert.deepEqual(await ids('status=failed'), [])

  const first = (await caller.get('/mandates?limit=4&status=ready')).body.data
  await given.mandate(caller.scope, { workflow_id: a.workflow_id })
  const rest = (await caller.get(`/mandates?limit=4&status=ready&cursor=${first.next_cursor}`)).body.data
  assert.deepEqual(
    [...first.items, ...rest.items].map(({ mandate_id }: any) => mandate_id),
    created.slice(1),
  )
  assert.equal(rest.next_cursor, null)
  assert.equal(first.items[0].changed, false)
  assert.ok(first.items[0].questions.skills.length > 0 && first.items[0].version > 1)
  for (const query of ['status=done', 'workflow_id=x', 'job_id=%20', 'limit=0', `cursor=${first.next_cursor}`])
    assert.deepEqual(errorPaths(await caller.get(`/mandates?${query}`)), [`query.${query.split('=')[0]}`])
})

test('reading and writing mandates need their scopes', async () => {
  const { app, given, scope, workflow_id } = await setUp()
  const reader = app.as(await given.key(scope.orgId, { scopes: ['mandates:read'] }))
  assertProblem(await reader.post('/mandates', aMandate(workflow_id)), 403, 'SCOPE_MISSING')
  const writer = app.as(await given.key(scope.orgId, { scopes: ['mandates:write'] }))
  assertProblem(await writer.get('/mandates'), 403, 'SCOPE_MISSING')
  assert.equal((await writer.post('/mandates', aMandate(workflow_id))).status, 202)
})
