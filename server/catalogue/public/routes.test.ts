import assert from 'node:assert/strict'
import { test } from 'node:test'
import { ADMIN_KEY, startApp, type TestApp } from '../../../test/support/app.ts'
import { oncePerFile } from '../../../test/support/cleanup.ts'
import { requestSkill } from '../skill-requests.ts'

const PUBLIC = ['skill_id', 'skill_name', 'sub_skill_id', 'sub_skill_name', 'master_skill_id', 'master_skill_name']
const SELECTED = [
  'selected_skill_id',
  'user_id',
  'skill_id',
  'sub_skill_id',
  'master_skill_id',
  'createdAt',
  'updatedAt',
]

const wiring = { skill_id: 'sk_2001', sub_skill_id: 'ss_201', master_skill_id: 'ms_2' }

/** Sends calls from a new IP address, so that tests do not share rate limits. */
let addresses = 0
function visitor({ fetch }: TestApp) {
  const address = `198.51.100.${++addresses}`
  const send = (path: string, init: RequestInit = {}) =>
    fetch(path, { ...init, headers: { 'x-forwarded-for': address, ...init.headers } })
  return {
    get: (path: string, headers?: Record<string, string>) => send(path, { ...(headers ? { headers } : {}) }),
    delete: (path: string) => send(path, { method: 'DELETE' }),
    post: (path: string, body: unknown) =>
      send(path, { method: 'POST', body: JSON.stringify(body), headers: { 'content-type': 'application/json' } }),
  }
}

function assertError({ status, body }: { status: number; body: any }, expected: number, ...words: (string | RegExp)[]) {
  assert.equal(status, expected, JSON.stringify(body))
  assert.deepEqual(Object.keys(body), ['success', 'message', 'error'])
  assert.equal(body.success, false)
  assert.equal(body.message, body.error)
  for (const word of words) assert.ok(body.message.match(word), `${body.message} mentions ${word}`)
}

const startShared = oncePerFile((t) => startApp(t, { config: { trustProxy: ['127.0.0.1'] } }))

async function setUp() {
  const app = await startShared()
  const { context, clock } = app
  const { current } = context.catalogue
  return { app, context, clock, current }
}

test('search by keyword returns the best matches first', async () => {
  const { app } = await setUp()
  const { get } = visitor(app)
  const { status, body } = await get('/api/skills/search?keyword=house%20wiring')
  assert.equal(status, 200)
  assert.deepEqual(Object.keys(body), ['data', 'page', 'limit', 'count'])
  assert.deepEqual(Object.keys(body.data[0]), PUBLIC)
  assert.deepEqual(body.data[0], {
    skill_id: 'sk_2001',
    skill_name: 'House wiring',
    sub_skill_id: 'ss_201',
    sub_skill_name: 'House and building wiring',
    master_skill_id: 'ms_2',
    master_skill_name: 'Electrical work',
  })
  for (const [text, expected] of [
    ['weldng', /weld/i],
    ['bijli', /wir|electric|meter|solar/i],
    ['राजमिस्त्री', /brick|mason/i],
  ] as const) {
    const found = await get(`/api/skills/search?keyword=${encodeURIComponent(text)}`)
    const names = found.body.data.slice(0, 5).map(({ skill_name }: any) => skill_name)
    assert.ok(
      names.some((name: string) => expected.test(name)),
      `${text}: ${names}`,
    )
  }
  const none = await get('/api/skills/search?keyword=qqqqzzzzxxxx')
  assert.deepEqual([none.status, none.body], [200, { data: [], page: 1, limit: 20, count: 0 }])
  assertError(await get('/api/skills/search?keyword=qqqqzzzzxxxx&page=2'), 400, 'query.page')
  assertError(await get('/api/skills/search'), 400, 'query.keyword: is required')
  assertError(await get('/api/skills/search?keyword=we'), 400, 'query.keyword', 'at least 3 characters')
  assertError(await get('/api/skills/search?keyword=%20%20%20'), 400, 'query.keyword')
  assertError(await get(`/api/skills/search?keyword=${'x'.repeat(101)}`), 400, 'query.keyword')
  assert.equal((await get('/api/skills/search?keyword=wel&other=1')).status, 200)
})

test('page numbers start at 1, and pages after the last one are rejected', async () => {
  const { app } = await setUp()
  const { get } = visitor(app)
  const first = (await get('/api/skills/search?keyword=machine&limit=50')).body
  assert.ok(first.count > 50 && first.data.length === 50)
  const last = Math.ceil(first.count / 50)
  const end = await get(`/api/skills/search?keyword=machine&limit=50&page=${last}`)
  assert.equal(end.body.data.length, first.count - 50 * (last - 1))
  assert.equal(end.body.page, last)
  assertError(
    await get(`/api/skills/search?keyword=machine&limit=50&page=${last + 1}`),
    400,
    'query.page',
    `at most ${last}`,
  )
  for (const page of ['0', '-1', '1.5', 'x', '', '1e3', '99999999999999999999'])
    assertError(await get(`/api/skills?page=${page}`), 400, 'query.page')
  for (const limit of ['0', '51', 'x', '2.0']) assertError(await get(`/api/skills?limit=${limit}`), 400, 'query.limit')
  assertError(await get('/api/skills?page=0&limit=51'), 400, 'query.page', 'query.limit')
})

test('skills are listed by ID and can be filtered by master skill and sub-skill', async () => {
  const { app, current } = await setUp()
  const { get } = visitor(app)
  const all = (await get('/api/skills')).body
  assert.deepEqual([all.count, all.page, all.limit, all.data.length], [current.skills.length, 1, 20, 20])
  assert.deepEqual(Object.keys(all.data[0]), PUBLIC)
  assert.equal(all.data[0].skill_id, `sk_${current.skills[0]!.number}`)
  const second = (await get('/api/skills?page=2&limit=10')).body
  assert.deepEqual(second.data, all.data.slice(10))
  const lastPage = Math.ceil(current.skills.length / 50)
  assert.equal((await get(`/api/skills?limit=50&page=${lastPage}`)).status, 200)
  assertError(await get(`/api/skills?limit=50&page=${lastPage + 1}`), 400, 'query.page')
  const under = (await get('/api/skills?master_skill_id=ms_2&limit=50')).body
  assert.equal(under.count, current.master(2)!.skills)
  assert.ok(under.data.every(({ master_skill_id }: any) => master_skill_id === 'ms_2'))
  const sub = (await get('/api/skills?sub_skill_id=ss_201&master_skill_id=ms_2')).body
  assert.equal(sub.count, current.subSkill(201)!.skills)
  const nothing = await get('/api/skills?sub_skill_id=ss_201&master_skill_id=ms_1')
  assert.deepEqual([nothing.status, nothing.body.count], [200, 0])
  assertError(await get('/api/skills?sub_skill_id=201'), 400, 'query.sub_skill_id')
})

test('master skills and sub-skills are listed with their number of skills', async () => {
  const { app, current } = await setUp()
  const { get } = visitor(app)
  const masters = (await get('/api/skills/masters?limit=50')).body
  assert.equal(masters.count, current.masters.length)
  assert.deepEqual(masters.data[1], {
    master_skill_id: 'ms_2',
    master_skill_name: 'Electrical work',
    skills: current.master(2)!.skills,
  })
  const subs = (await get('/api/skills/sub-skills?master_skill_id=ms_2&limit=50')).body
  assert.deepEqual(Object.keys(subs.data[0]), [
    'sub_skill_id',
    'sub_skill_name',
    'master_skill_id',
    'master_skill_name',
    'skills',
  ])
  const sum = subs.data.reduce((total: number, { skills }: any) => total + skills, 0)
  assert.equal(sum, current.master(2)!.skills)
  assert.equal((await get('/api/skills/sub-skills')).body.count, current.subSkills.length)
  assert.equal((await get('/api/skills/sub-skills?master_skill_id=ms_999')).body.count, 0)
  assertError(await get('/api/skills/sub-skills?master_skill_id=two'), 400, 'query.master_skill_id')
  assertError(await get('/api/skills/masters?page=99'), 400, 'query.page')
})

test('a skill is returned with its description and aliases', async () => {
  const { app } = await setUp()
  const { get } = visitor(app)
  const { status, body } = await get('/api/skills/sk_2001')
  assert.equal(status, 200)
  assert.deepEqual(Object.keys(body), ['success', 'message', 'data'])
  assert.equal(body.success, true)
  assert.deepEqual(Object.keys(body.data), [...PUBLIC, 'description', 'aliases'])
  assert.ok(body.data.aliases.includes('बिजली का काम'))
  for (const id of ['sk_999999999', 'sk_0', 'nope', 'ss_201', '%00']) assertError(await get(`/api/skills/${id}`), 404)
})

test('a skill can be selected, read and deleted', async () => {
  const { app } = await setUp()
  const { get, post, delete: remove } = visitor(app)
  const created = await post('/api/selected-skills', { user_id: 'asha', ...wiring, extra: 'ignored' })
  assert.equal(created.status, 201, JSON.stringify(created.body))
  assert.deepEqual(Object.keys(created.body), ['success', 'message', 'data'])
  assert.equal(created.body.success, true)
  assert.deepEqual(Object.keys(created.body.data), SELECTED)
  const { selected_skill_id, ...rest } = created.body.data
  assert.match(selected_skill_id, /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/)
  const time = new Date(app.clock.now()).toISOString()
  assert.deepEqual(rest, { user_id: 'asha', ...wiring, createdAt: time, updatedAt: time })

  const one = await get(`/api/selected-skills/${selected_skill_id.toUpperCase()}`)
  assert.equal(one.status, 200)
  const named = {
    skill_name: 'House wiring',
    sub_skill_name: 'House and building wiring',
    master_skill_name: 'Electrical work',
  }
  assert.deepEqual(one.body.data, { ...created.body.data, ...named })
  const list = await get('/api/selected-skills?user_id=asha')
  assert.deepEqual(list.body, { data: [one.body.data], page: 1, limit: 20, count: 1 })

  assertError(await post('/api/selected-skills', { user_id: 'asha', ...wiring }), 409, 'already selected')
  const deleted = await remove(`/api/selected-skills/${selected_skill_id}`)
  assert.deepEqual([deleted.status, deleted.body.success, deleted.body.data], [200, true, created.body.data])
  assertError(await remove(`/api/selected-skills/${selected_skill_id}`), 404, selected_skill_id)
  assertError(await get(`/api/selected-skills/${selected_skill_id}`), 404)
  for (const id of ['sk_2001', 'nope', `${selected_skill_id}0`]) {
    assertError(await remove(`/api/selected-skills/${id}`), 404)
    assertError(await get(`/api/selected-skills/${id}`), 404)
  }
  assert.equal((await post('/api/selected-skills', { user_id: 'asha', ...wiring })).status, 201)
})

test('the count of a list is consistent with its items while it grows', async () => {
  const { app } = await setUp()
  const { get, post } = visitor(app)
  for (let round = 0; round < 20; round++) {
    const user_id = `round ${round}`
    const [, ...lists] = await Promise.all([
      post('/api/selected-skills', { user_id, ...wiring }),
      ...Array.from({ length: 3 }, () => get(`/api/selected-skills?user_id=${encodeURIComponent(user_id)}`)),
    ])
    for (const { body } of lists) assert.equal(body.count, body.data.length)
  }
})

test('invalid selections are rejected', async () => {
  const { app } = await setUp()
  const { post, get } = visitor(app)
  const all = { user_id: 'vikram', ...wiring }
  for (const field of Object.keys(all) as (keyof typeof all)[]) {
    const { [field]: _, ...without } = all
    assertError(await post('/api/selected-skills', without), 400, `${field}: is required`)
    for (const value of [7, null, '', ' ', ['sk_2001'], 'a\0b'])
      assertError(await post('/api/selected-skills', { ...all, [field]: value }), 400, field)
  }
  assertError(await post('/api/selected-skills', {}), 400, ...Object.keys(all))
  assertError(await post('/api/selected-skills', { ...all, user_id: 'x'.repeat(129) }), 400, 'user_id')
  assertError(await post('/api/selected-skills', { ...all, skill_id: 'sk_999999999' }), 404, 'sk_999999999')
  assertError(await post('/api/selected-skills', { ...all, skill_id: 'welding' }), 404, 'welding')
  assertError(await post('/api/selected-skills', { ...all, sub_skill_id: 'ss_202' }), 400, 'sub_skill_id', 'ss_201')
  assertError(await post('/api/selected-skills', { ...all, master_skill_id: 'ms_1' }), 400, 'master_skill_id', 'ms_2')
  assertError(
    await post('/api/selected-skills', { ...all, sub_skill_id: 'x', master_skill_id: 'y' }),
    400,
    'sub_skill_id',
    'master_skill_id',
  )
  assert.equal((await get('/api/selected-skills?user_id=vikram')).body.count, 0, 'nothing was stored')
  for (const user_id of ['x', '😀'.repeat(128), " o'brien; --"])
    assert.equal((await post('/api/selected-skills', { ...all, user_id })).status, 201)
  assertError(await get('/api/selected-skills'), 400, 'query.user_id: is required')
  assertError(await get('/api/selected-skills?user_id='), 400, 'query.user_id')
  assertError(await get('/api/selected-skills?user_id=a%00b'), 400, 'query.user_id')
  assertError(await get(`/api/selected-skills?user_id=${'x'.repeat(129)}`), 400, 'query.user_id')
})

test('a body that is not a JSON object is rejected', async () => {
  const { app } = await setUp()
  const { address, send } = { address: '198.51.100.250', send: app.fetch }
  const post = (body: string, type = 'application/json') =>
    send('/api/selected-skills', {
      method: 'POST',
      body,
      headers: { 'content-type': type, 'x-forwarded-for': address },
    })
  assertError(await post('{"user_id'), 400, 'body')
  assertError(await post('[]'), 400)
  assertError(await post('{}', 'text/plain'), 415)
  assertError(await post(`{"user_id":"${'x'.repeat(262_144)}"}`), 413)
})

test('a hundred concurrent requests for the same selection create one', async () => {
  const { app } = await setUp()
  const { post, get } = visitor(app)
  const responses = await Promise.all(
    Array.from({ length: 100 }, () => post('/api/selected-skills', { user_id: 'crowd', ...wiring })),
  )
  const statuses = responses.map(({ status }) => status).sort()
  assert.deepEqual(statuses, [201, ...Array(99).fill(409)])
  assert.equal((await get('/api/selected-skills?user_id=crowd')).status, 429)
  assert.equal((await visitor(app).get('/api/selected-skills?user_id=crowd')).body.count, 1)
})

test('selections are listed newest first, in pages', async () => {
  const { app, clock, current } = await setUp()
  const { post, get } = visitor(app)
  const chosen = current.skills.slice(0, 5)
  for (const { number, sub } of chosen) {
    clock.advance(1000)
    const ids = {
      skill_id: `sk_${number}`,
      sub_skill_id: `ss_${sub.number}`,
      master_skill_id: `ms_${sub.master.number}`,
    }
    assert.equal((await post('/api/selected-skills', { user_id: 'many', ...ids })).status, 201)
  }
  const page = (await get('/api/selected-skills?user_id=many&limit=2&page=2')).body
  assert.deepEqual(
    page.data.map(({ skill_id }: any) => skill_id),
    [`sk_${chosen[2]!.number}`, `sk_${chosen[1]!.number}`],
  )
  assert.deepEqual([page.page, page.limit, page.count], [2, 2, 5])
  assertError(await get('/api/selected-skills?user_id=many&limit=2&page=4'), 400, 'query.page')
  assertError(await get('/api/selected-skills?user_id=unknown&page=2'), 400, 'query.page')
})

test('admin routes require the admin key', async () => {
  const { app } = await setUp()
  const { get } = visitor(app)
  const routes = ['/api/admin/counts', '/api/admin/top-skills', '/api/admin/rate-limits']
  const { key } = await app.given.org()
  for (const route of routes) {
    assertError(await get(route), 403, 'Access denied')
    for (const wrong of [' ', 'x', `${ADMIN_KEY}x`, ADMIN_KEY.slice(1), ADMIN_KEY.toUpperCase(), key.keyId])
      assertError(await get(route, { 'x-api-key': wrong }), 403)
    assertError(await get(`${route}?limit=0&page=x`), 403)
    assert.equal((await get(route, { 'x-api-key': ADMIN_KEY })).status, 200)
  }
  assertError(await get('/api/admin/nothing', { 'x-api-key': ADMIN_KEY }), 404)
})

test('totals and the most selected skills are returned', async () => {
  const { app, context, clock, current } = await setUp()
  const { post, get } = visitor(app)
  const admin = { 'x-api-key': ADMIN_KEY }
  await context.db.queries.deleteFrom('selected_skills').execute()
  const bricks = { skill_id: 'sk_1001', sub_skill_id: 'ss_101', master_skill_id: 'ms_1' }
  for (const [user_id, skill] of [
    ['a', wiring],
    ['b', wiring],
    ['c', wiring],
    ['a', bricks],
  ] as const)
    assert.equal((await post('/api/selected-skills', { user_id, ...skill })).status, 201)
  const { orgId } = await app.given.org()
  await context.db.transaction((tx) =>
    requestSkill(tx, { orgId, mode: 'test' }, clock, { name: 'Underwater basketry' }),
  )
  const counts = (await get('/api/admin/counts', admin)).body
  assert.equal(counts.success, true)
  assert.deepEqual(counts.data, {
    master_skills: current.masters.length,
    sub_skills: current.subSkills.length,
    skills: current.skills.length,
    selected_skills: 4,
    users: 3,
    pending_skill_requests: 1,
  })
  const top = (await get('/api/admin/top-skills?limit=1', admin)).body
  assert.deepEqual(top, {
    data: [{ skill_id: 'sk_2001', skill_name: 'House wiring', selections: 3 }],
    page: 1,
    limit: 1,
    count: 2,
  })
  assert.equal((await get('/api/admin/top-skills?limit=1&page=2', admin)).body.data[0].skill_id, 'sk_1001')
  assertError(await get('/api/admin/top-skills?limit=1&page=3', admin), 400, 'query.page')
  assertError(await get('/api/admin/top-skills?limit=51', admin), 400, 'query.limit')
})
