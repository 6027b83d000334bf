import assert from 'node:assert/strict'
import { test } from 'node:test'
import { startApp } from '../../test/support/app.ts'
import { oncePerFile } from '../../test/support/cleanup.ts'
import { partner } from '../../test/support/partners.ts'
import { HOUR } from '../platform/clock.ts'
import {
  approveRequest,
  findOpenRequest,
  rejectRequest,
  skillApproved,
  skillRequestResolved,
} from './skill-requests.ts'

const REQUEST = ['request_id', 'name', 'status', 'skill_id', 'created_at']

const startShared = oncePerFile((t) => startApp(t))

async function setUp() {
  const app = await startShared()
  const { context, clock } = app
  const approve = (id: string, subNumber = 101, verifiable = false) =>
    context.db.transaction((tx) => approveRequest(tx, clock, id, { subNumber, verifiable }))
  const reject = (id: string) => context.db.transaction((tx) => rejectRequest(tx, clock, id))
  return { app, context, clock, approve, reject }
}

test('a new name creates a request, and a repeat returns the open request', async () => {
  const { app, clock } = await setUp()
  const { post, get } = await partner(app)
  const created = await post('/skill-requests', {
    name: 'Bamboo scaffolding tying',
    context: 'High-rise work in Kolkata',
  })
  assert.equal(created.status, 201, JSON.stringify(created.body))
  assert.deepEqual(Object.keys(created.body.data), REQUEST)
  const { request_id } = created.body.data
  assert.match(request_id, /^SR_[0-9A-HJKMNP-TV-Z]{26}$/)
  assert.deepEqual(created.body.data, {
    request_id,
    name: 'Bamboo scaffolding tying',
    status: 'pending',
    skill_id: null,
    created_at: new Date(clock.now()).toISOString(),
  })
  const repeat = await post('/skill-requests', { name: ' BAMBOO  scaffolding TYING' })
  assert.equal(repeat.status, 200)
  assert.deepEqual(repeat.body.data, created.body.data)
  const read = await get(`/skill-requests/${request_id}`)
  assert.deepEqual([read.status, read.body.data], [200, created.body.data])
})

test('a request for an existing skill returns the skill as a duplicate', async () => {
  const { app } = await setUp()
  const { post, get } = await partner(app)
  const first = await post('/skill-requests', { name: 'house WIRING' })
  assert.equal(first.status, 200)
  assert.equal(first.body.data.status, 'duplicate')
  assert.equal(first.body.data.skill_id, 'sk_2001')
  const repeated = await post('/skill-requests', { name: 'House wiring' })
  assert.deepEqual([repeated.status, repeated.body.data], [200, first.body.data])
  assert.equal((await get('/skill-requests?status=duplicate')).body.data.items.length, 1)
  assert.equal((await get('/skill-requests?status=pending')).body.data.items.length, 0)
})

test('names have 2 to 120 characters, contexts up to 500', async () => {
  const { app } = await setUp()
  const { post, get } = await partner(app)
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

test('organisations and modes are isolated from each other', async () => {
  const { app } = await setUp()
  const ours = await partner(app)
  const ourTest = await partner(app, 'test', ours.orgId)
  const theirs = await partner(app)
  const name = 'Peacock feather craft'
  const created = await ours.post('/skill-requests', { name })
  const path = `/skill-requests/${created.body.data.request_id}`
  for (const other of [ourTest, theirs]) {
    assert.equal((await other.get(path)).status, 404)
    assert.deepEqual((await other.get('/skill-requests')).body.data, { items: [], next_cursor: null })
    const own = await other.post('/skill-requests', { name })
    assert.equal(own.status, 201)
    assert.notEqual(own.body.data.request_id, created.body.data.request_id)
  }
  assert.equal((await ours.get('/skill-requests')).body.data.items.length, 1)
  assert.equal((await ours.get('/skill-requests/SR_01ARZ3NDEKTSV4RRFFQ69G5FAV')).status, 404)
  for (const malformed of ['nope', 'SR_x', 'JM_01ARZ3NDEKTSV4RRFFQ69G5FAV']) {
    const response = await ours.get(`/skill-requests/${malformed}`)
    assert.equal(response.status, 400, malformed)
    assert.equal(response.body.error.details[0].path, 'path.request_id')
  }
})

test('requests are listed newest first, by status, in stable pages', async () => {
  const { app, reject } = await setUp()
  const { post, get } = await partner(app)
  const requestSkill = async (name: string) => (await post('/skill-requests', { name })).body.data.request_id
  const ids: string[] = []
  for (let i = 0; i < 7; i++) ids.unshift(await requestSkill(`Listed skill ${i}`))
  const first = await get('/skill-requests?limit=3')
  const idsOf = (response: any) => response.body.data.items.map(({ request_id }: any) => request_id)
  assert.deepEqual(idsOf(first), ids.slice(0, 3))
  await requestSkill('Listed later')
  const cursor = first.body.data.next_cursor
  const second = await get(`/skill-requests?limit=4&cursor=${cursor}`)
  assert.deepEqual(idsOf(second), ids.slice(3))
  assert.equal(second.body.data.next_cursor, null)
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
  const { post } = await partner(app)
  const options = { idempotencyKey: 'once' }
  const created = await post('/skill-requests', { name: 'Camel driving' }, options)
  const retry = await post('/skill-requests', { name: 'Camel driving' }, options)
  assert.deepEqual([retry.status, retry.body], [201, created.body])
  assert.equal(retry.headers.get('idempotency-replayed'), 'true')
  assert.equal((await post('/skill-requests', { name: 'Other' }, options)).status, 422)
})

test('forty concurrent requests for the same name create one request', async () => {
  const { app } = await setUp()
  const { post, get } = await partner(app)
  const responses = await Promise.all(
    Array.from({ length: 40 }, (_, i) => post('/skill-requests', { name: i % 2 ? 'Kite making' : 'KITE  MAKING' })),
  )
  assert.deepEqual(responses.map(({ status }) => status).sort(), [...Array(39).fill(200), 201])
  assert.equal(new Set(responses.map(({ body }) => body.data.request_id)).size, 1)
  assert.equal((await get('/skill-requests')).body.data.items.length, 1)
})

test('an approval adds the skill and approves the requests of all organisations', async () => {
  const { app, context, clock, approve } = await setUp()
  const one = await partner(app)
  const two = await partner(app, 'test')
  const name = 'Dhokra  casting'
  const first = (await one.post('/skill-requests', { name })).body.data
  const second = (await two.post('/skill-requests', { name: 'dhokra casting' })).body.data
  const other = (await two.post('/skill-requests', { name: 'Dhokra polishing' })).body.data
  const hookCalls: string[] = []
  const unregister = [
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
  const { skill, requests } = await approve(first.request_id, 201, true)
  for (const stop of unregister) stop()
  assert.equal(requests.length, 2)
  assert.deepEqual(hookCalls, [
    'skill dhokracasting Dhokra casting',
    `${first.request_id} approved`,
    `${second.request_id} approved`,
  ])
  await context.catalogue.refresh()
  assert.ok(context.catalogue.current.version > version)
  assert.ok(skill.number >= 1_000_000)
  const skill_id = `sk_${skill.number}`
  const record = (await one.get(`/skills/${skill_id}`)).body.data
  assert.equal(record.name, 'Dhokra casting')
  assert.equal(record.sub_skill.sub_skill_id, 'ss_201')
  assert.equal(record.verifiable, true)
  assert.equal((await one.get('/skills/search?q=dhokra')).body.data.items[0].skill_id, skill_id)
  for (const [organisation, requested] of [
    [one, first],
    [two, second],
  ] as const) {
    const now = (await organisation.get(`/skill-requests/${requested.request_id}`)).body.data
    assert.deepEqual(now, { ...requested, status: 'approved', skill_id })
  }
  assert.equal((await two.get(`/skill-requests/${other.request_id}`)).body.data.status, 'pending')
  assert.equal(await findOpenRequest(context.db.queries, { orgId: one.orgId, mode: 'live' }, name), undefined)
  const repeat = await one.post('/skill-requests', { name })
  assert.deepEqual([repeat.status, repeat.body.data.status, repeat.body.data.skill_id], [200, 'duplicate', skill_id])
})

test('a decided request cannot be decided again', async () => {
  const { app, approve, reject } = await setUp()
  const { post } = await partner(app)
  const approved = (await post('/skill-requests', { name: 'Lac bangle making' })).body.data.request_id
  const rejected = (await post('/skill-requests', { name: 'Being nice' })).body.data.request_id
  await approve(approved)
  assert.equal((await reject(rejected)).status, 'rejected')
  for (const id of [approved, rejected]) {
    for (const decide of [approve, reject])
      await assert.rejects(decide(id), {
        code: 'CONFLICT',
        message: new RegExp(`^Skill request ${id} has already been decided: `),
      })
  }
  await assert.rejects(approve('SR_UNKNOWN'), { code: 'NOT_FOUND' })
  const open = (await post('/skill-requests', { name: 'Lac seal making' })).body.data.request_id
  await assert.rejects(approve(open, 99_999), { code: 'NOT_FOUND', message: /ss_99999/ })
  const repeated = await post('/skill-requests', { name: 'Being nice' })
  assert.equal(repeated.status, 201, 'a rejected name can be requested again')
})

test('a failing hook rolls back the approval', async () => {
  const { app, context, approve } = await setUp()
  const { post, get } = await partner(app)
  const { request_id } = (await post('/skill-requests', { name: 'Doomed skill' })).body.data
  const stop = skillRequestResolved.observe(async () => {
    throw new Error('the event could not be written')
  })
  await assert.rejects(approve(request_id), /could not be written/)
  stop()
  await context.catalogue.refresh()
  assert.equal((await get(`/skill-requests/${request_id}`)).body.data.status, 'pending')
  assert.equal(context.catalogue.current.named('Doomed skill'), undefined)
})

test('a request created during the approval of the same name does not stay pending', async () => {
  const { app, approve } = await setUp()
  const partners = await Promise.all(Array.from({ length: 8 }, () => partner(app)))
  const { post } = await partner(app)
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

test('creating and reading requests require skills:request', async () => {
  const { app } = await setUp()
  const { orgId } = await app.given.org()
  const unscoped = app.as(await app.given.key(orgId, { scopes: ['skills:read'] }))
  for (const response of [
    await unscoped.post('/skill-requests', {}),
    await unscoped.get('/skill-requests'),
    await unscoped.get('/skill-requests/SR_01ARZ3NDEKTSV4RRFFQ69G5FAV'),
  ])
    assert.equal(response.body.error.code, 'SCOPE_MISSING')
})
