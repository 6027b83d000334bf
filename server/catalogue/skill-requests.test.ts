import assert from 'node:assert/strict'
import { test } from 'node:test'
import { startApp } from '../../test/support/app.ts'
import { oncePerFile } from '../../test/support/cleanup.ts'
import { createPartner } from '../../test/support/partners.ts'
import { HOUR } from '../platform/clock.ts'
import {
  approveRequest,
  findOpenRequest,
  rejectRequest,
  skillApproved,
  skillRequestResolved,
} from './skill-requests.ts'

const REQUEST_FIELDS = ['request_id', 'name', 'status', 'skill_id', 'created_at']

const startShared = oncePerFile((t) => startApp(t))

async function setUp() {
  const app = await startShared()
  const { context, clock } = app
  const approve = (id: string, subNumber = 101, verifiable = false) =>
    context.db.transaction((tx) => approveRequest(tx, clock, id, { subNumber, verifiable }))
  const reject = (id: string) => context.db.transaction((tx) => rejectRequest(tx, clock, id))
  return { app, context, clock, approve, reject }
}

test('a request for a new name is created, and a repeated request returns the pending one', async () => {
  const { app, clock } = await setUp()
  const { post, get } = await createPartner(app)
  const createdResponse = await post('/skill-requests', {
    name: 'Bamboo scaffolding tying',
    context: 'High-rise work in Kolkata',
  })
  assert.equal(createdResponse.status, 201, JSON.stringify(createdResponse.body))
  assert.deepEqual(Object.keys(createdResponse.body.data), REQUEST_FIELDS)
  const { request_id } = createdResponse.body.data
  assert.match(request_id, /^SR_[0-9A-HJKMNP-TV-Z]{26}$/)
  assert.deepEqual(createdResponse.body.data, {
    request_id,
    name: 'Bamboo scaffolding tying',
    status: 'pending',
    skill_id: null,
    created_at: new Date(clock.now()).toISOString(),
  })
  const repeatedResponse = await post('/skill-requests', { name: ' BAMBOO  scaffolding TYING' })
  assert.equal(repeatedResponse.status, 200)
  assert.deepEqual(repeatedResponse.body.data, createdResponse.body.data)
  const readResponse = await get(`/skill-requests/${request_id}`)
  assert.deepEqual([readResponse.status, readResponse.body.data], [200, createdResponse.body.data])
})

test('a request for an existing skill returns the skill as a duplicate', async () => {
  const { app } = await setUp()
  const { post, get } = await createPartner(app)
  const firstResponse = await post('/skill-requests', { name: 'house WIRING' })
  assert.equal(firstResponse.status, 200)
  assert.equal(firstResponse.body.data.status, 'duplicate')
  assert.equal(firstResponse.body.data.skill_id, 'sk_2001')
  const repeatedResponse = await post('/skill-requests', { name: 'House wiring' })
  assert.deepEqual([repeatedResponse.status, repeatedResponse.body.data], [200, firstResponse.body.data])
  assert.equal((await get('/skill-requests?status=duplicate')).body.data.items.length, 1)
  assert.equal((await get('/skill-requests?status=pending')).body.data.items.length, 0)
})

test('a skill request has a name of 2 to 120 characters and a context of up to 500', async () => {
  const { app } = await setUp()
  const { post, get } = await createPartner(app)
  const assertInvalid = async (body: unknown, ...paths: string[]) => {
    const response = await post('/skill-requests', body)
    assert.equal(response.status, 400, JSON.stringify(body))
    assert.deepEqual(
      response.body.error.details.map(({ path }: any) => path),
      paths,
    )
  }
  await assertInvalid(undefined, 'body')
  await assertInvalid({}, 'name')
  await assertInvalid({ name: 'x' }, 'name')
  await assertInvalid({ name: 'x'.repeat(121) }, 'name')
  await assertInvalid({ name: '   ' }, 'name')
  await assertInvalid({ name: 7, context: 'x'.repeat(501), more: true }, 'more', 'name', 'context')
  assert.equal((await post('/skill-requests', { name: 'Zq' })).status, 201)
  assert.equal((await post('/skill-requests', { name: '😀'.repeat(120), context: '😀'.repeat(500) })).status, 201)
  assert.equal((await get('/skill-requests')).body.data.items.length, 2)
})

test('organisations and modes cannot read the skill requests of each other', async () => {
  const { app } = await setUp()
  const ourPartner = await createPartner(app)
  const ourTestPartner = await createPartner(app, 'test', ourPartner.orgId)
  const otherPartner = await createPartner(app)
  const name = 'Peacock feather craft'
  const createdResponse = await ourPartner.post('/skill-requests', { name })
  const path = `/skill-requests/${createdResponse.body.data.request_id}`
  for (const other of [ourTestPartner, otherPartner]) {
    assert.equal((await other.get(path)).status, 404)
    assert.deepEqual((await other.get('/skill-requests')).body.data, { items: [], next_cursor: null })
    const ownRequest = await other.post('/skill-requests', { name })
    assert.equal(ownRequest.status, 201)
    assert.notEqual(ownRequest.body.data.request_id, createdResponse.body.data.request_id)
  }
  assert.equal((await ourPartner.get('/skill-requests')).body.data.items.length, 1)
  assert.equal((await ourPartner.get('/skill-requests/SR_01ARZ3NDEKTSV4RRFFQ69G5FAV')).status, 404)
  for (const malformed of ['nope', 'SR_x', 'JM_01ARZ3NDEKTSV4RRFFQ69G5FAV']) {
    const response = await ourPartner.get(`/skill-requests/${malformed}`)
    assert.equal(response.status, 400, malformed)
    assert.equal(response.body.error.details[0].path, 'path.request_id')
  }
})

test('requests are listed newest first, by status, in stable pages', async () => {
  const { app, reject } = await setUp()
  const { post, get } = await createPartner(app)
  const requestSkill = async (name: string) => (await post('/skill-requests', { name })).body.data.request_id
  const ids: string[] = []
  for (let i = 0; i < 7; i++) ids.unshift(await requestSkill(`Listed skill ${i}`))
  const firstPage = await get('/skill-requests?limit=3')
  const idsOf = (response: any) => response.body.data.items.map(({ request_id }: any) => request_id)
  assert.deepEqual(idsOf(firstPage), ids.slice(0, 3))
  await requestSkill('Listed later')
  const cursor = firstPage.body.data.next_cursor
  const secondPage = await get(`/skill-requests?limit=4&cursor=${cursor}`)
  assert.deepEqual(idsOf(secondPage), ids.slice(3))
  assert.equal(secondPage.body.data.next_cursor, null)
  await reject(ids[2]!)
  assert.deepEqual(idsOf(await get('/skill-requests?status=rejected')), [ids[2]])
  assert.equal(idsOf(await get('/skill-requests?status=pending')).length, 7)
  for (const [query, path] of [
    ['status=open', 'query.status'],
    ['limit=0', 'query.limit'],
    ['limit=101', 'query.limit'],
    ['cursor=zzz', 'query.cursor'],
    [`status=pending&cursor=${cursor}`, 'query.cursor'],
  ] as const) {
    const response = await get(`/skill-requests?${query}`)
    assert.equal(response.status, 400, query)
    assert.equal(response.body.error.details[0].path, path)
  }
  assert.equal((await get('/skill-requests?limit=100')).status, 200)
})

test('a retry with the same Idempotency-Key returns the first response', async () => {
  const { app } = await setUp()
  const { post } = await createPartner(app)
  const options = { idempotencyKey: 'once' }
  const createdResponse = await post('/skill-requests', { name: 'Camel driving' }, options)
  const retry = await post('/skill-requests', { name: 'Camel driving' }, options)
  assert.deepEqual([retry.status, retry.body], [201, createdResponse.body])
  assert.equal(retry.headers.get('idempotency-replayed'), 'true')
  assert.equal((await post('/skill-requests', { name: 'Other' }, options)).status, 422)
})

test('forty concurrent requests for the same name create one request', async () => {
  const { app } = await setUp()
  const { post, get } = await createPartner(app)
  const responses = await Promise.all(
    Array.from({ length: 40 }, (_, i) => post('/skill-requests', { name: i % 2 ? 'Kite making' : 'KITE  MAKING' })),
  )
  assert.deepEqual(responses.map(({ status }) => status).sort(), [...Array(39).fill(200), 201])
  assert.equal(new Set(responses.map(({ body }) => body.data.request_id)).size, 1)
  assert.equal((await get('/skill-requests')).body.data.items.length, 1)
})

test('an approval adds the skill and approves the requests of all organisations', async () => {
  const { app, context, clock, approve } = await setUp()
  const firstPartner = await createPartner(app)
  const secondPartner = await createPartner(app, 'test')
  const name = 'Dhokra  casting'
  const firstRequest = (await firstPartner.post('/skill-requests', { name })).body.data
  const secondRequest = (await secondPartner.post('/skill-requests', { name: 'dhokra casting' })).body.data
  const otherRequest = (await secondPartner.post('/skill-requests', { name: 'Dhokra polishing' })).body.data
  const hookCalls: string[] = []
  const unregisterHooks = [
    skillApproved.observe(async (tx, skill) => {
      const row = await tx.selectFrom('skills').select('name').where('number', '=', skill.number).executeTakeFirst()
      hookCalls.push(`skill ${skill.nameKey} ${row?.name}`)
    }),
    skillRequestResolved.observe(
      async (_tx, request) => void hookCalls.push(`${request.request_id} ${request.status}`),
    ),
  ]
  const { version } = context.catalogue.current
  clock.advance(HOUR)
  const { skill, requests } = await approve(firstRequest.request_id, 201, true)
  for (const unregister of unregisterHooks) unregister()
  assert.equal(requests.length, 2)
  assert.deepEqual(hookCalls, [
    'skill dhokracasting Dhokra casting',
    `${firstRequest.request_id} approved`,
    `${secondRequest.request_id} approved`,
  ])
  await context.catalogue.refresh()
  assert.ok(context.catalogue.current.version > version)
  assert.ok(skill.number >= 1_000_000)
  const skill_id = `sk_${skill.number}`
  const record = (await firstPartner.get(`/skills/${skill_id}`)).body.data
  assert.equal(record.name, 'Dhokra casting')
  assert.equal(record.sub_skill.sub_skill_id, 'ss_201')
  assert.equal(record.verifiable, false, 'there are no questions about it')
  assert.equal((await firstPartner.get('/skills/search?q=dhokra')).body.data.items[0].skill_id, skill_id)
  for (const [organisation, skillRequest] of [
    [firstPartner, firstRequest],
    [secondPartner, secondRequest],
  ] as const) {
    const updatedRequest = (await organisation.get(`/skill-requests/${skillRequest.request_id}`)).body.data
    assert.deepEqual(updatedRequest, { ...skillRequest, status: 'approved', skill_id })
  }
  assert.equal((await secondPartner.get(`/skill-requests/${otherRequest.request_id}`)).body.data.status, 'pending')
  assert.equal(await findOpenRequest(context.db.queries, { orgId: firstPartner.orgId, mode: 'live' }, name), undefined)
  const repeatedResponse = await firstPartner.post('/skill-requests', { name })
  assert.deepEqual(
    [repeatedResponse.status, repeatedResponse.body.data.status, repeatedResponse.body.data.skill_id],
    [200, 'duplicate', skill_id],
  )
})

test('a decided request cannot be decided again', async () => {
  const { app, approve, reject } = await setUp()
  const { post } = await createPartner(app)
  const approvedId = (await post('/skill-requests', { name: 'Lac bangle making' })).body.data.request_id
  const rejectedId = (await post('/skill-requests', { name: 'Being nice' })).body.data.request_id
  await approve(approvedId)
  assert.equal((await reject(rejectedId)).status, 'rejected')
  for (const id of [approvedId, rejectedId]) {
    for (const decide of [approve, reject])
      await assert.rejects(decide(id), {
        code: 'CONFLICT',
        message: new RegExp(`^Skill request ${id} has already been decided: `),
      })
  }
  await assert.rejects(approve('SR_UNKNOWN'), { code: 'NOT_FOUND' })
  const openId = (await post('/skill-requests', { name: 'Lac seal making' })).body.data.request_id
  await assert.rejects(approve(openId, 99_999), { code: 'NOT_FOUND', message: /ss_99999/ })
  const repeatedResponse = await post('/skill-requests', { name: 'Being nice' })
  assert.equal(repeatedResponse.status, 201, 'a rejected name can be requested again')
})

test('a failing hook rolls back the approval', async () => {
  const { app, context, approve } = await setUp()
  const { post, get } = await createPartner(app)
  const { request_id } = (await post('/skill-requests', { name: 'Doomed skill' })).body.data
  const unregisterHook = skillRequestResolved.observe(async () => {
    throw new Error('the event could not be written')
  })
  await assert.rejects(approve(request_id), /could not be written/)
  unregisterHook()
  await context.catalogue.refresh()
  assert.equal((await get(`/skill-requests/${request_id}`)).body.data.status, 'pending')
  assert.equal(context.catalogue.current.skillByName('Doomed skill'), undefined)
})

test('a request created during the approval of the same name does not stay pending', async () => {
  const { app, approve } = await setUp()
  const partners = await Promise.all(Array.from({ length: 8 }, () => createPartner(app)))
  const { post } = await createPartner(app)
  const { request_id } = (await post('/skill-requests', { name: 'Racing skill' })).body.data
  await Promise.all([
    ...partners.slice(0, 4).map((other) => other.post('/skill-requests', { name: 'Racing skill' })),
    approve(request_id),
    ...partners.slice(4).map((other) => other.post('/skill-requests', { name: 'Racing skill' })),
  ])
  for (const { get } of partners) {
    const [item] = (await get('/skill-requests')).body.data.items
    assert.ok(['approved', 'duplicate'].includes(item.status), item.status)
    assert.match(item.skill_id, /^sk_1\d{6}$/)
  }
})

test('creating and reading skill requests require the scope skills:request', async () => {
  const { app } = await setUp()
  const { orgId } = await app.fixtures.createOrg()
  const clientWithoutScope = app.as(await app.fixtures.createPartnerKey(orgId, { scopes: ['skills:read'] }))
  for (const response of [
    await clientWithoutScope.post('/skill-requests', {}),
    await clientWithoutScope.get('/skill-requests'),
    await clientWithoutScope.get('/skill-requests/SR_01ARZ3NDEKTSV4RRFFQ69G5FAV'),
  ])
    assert.equal(response.body.error.code, 'SCOPE_MISSING')
})
