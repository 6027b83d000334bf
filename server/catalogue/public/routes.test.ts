import assert from 'node:assert/strict'
import { test } from 'node:test'
import { ADMIN_KEY, startApp, type TestApp } from '../../../test/support/app.ts'
import { oncePerFile } from '../../../test/support/cleanup.ts'
import { rejectRequest, requestSkill } from '../skill-requests.ts'

const PUBLIC_SKILL_FIELDS = [
  'skill_id',
  'skill_name',
  'sub_skill_id',
  'sub_skill_name',
  'master_skill_id',
  'master_skill_name',
]
const SELECTED_SKILL_FIELDS = [
  'selected_skill_id',
  'user_id',
  'skill_id',
  'sub_skill_id',
  'master_skill_id',
  'createdAt',
  'updatedAt',
]

const wiringIds = { skill_id: 'sk_2001', sub_skill_id: 'ss_201', master_skill_id: 'ms_2' }

/** Last byte of the IP address of the newest visitor. Each test sends requests from new addresses, so that tests do not share rate limits. */
let lastAddress = 0
function newVisitor({ fetch }: TestApp) {
  const address = `198.51.100.${++lastAddress}`
  const send = (path: string, init: RequestInit = {}) =>
    fetch(path, { ...init, headers: { 'x-forwarded-for': address, ...init.headers } })
  return {
    get: (path: string, headers?: Record<string, string>) => send(path, { ...(headers ? { headers } : {}) }),
    delete: (path: string) => send(path, { method: 'DELETE' }),
    post: (path: string, body: unknown) =>
      send(path, { method: 'POST', body: JSON.stringify(body), headers: { 'content-type': 'application/json' } }),
  }
}

function assertError(
  { status, body }: { status: number; body: any },
  expectedStatus: number,
  ...expectedTexts: (string | RegExp)[]
) {
  assert.equal(status, expectedStatus, JSON.stringify(body))
  assert.deepEqual(Object.keys(body), ['success', 'message', 'error', 'requestId', 'docUrl'])
  assert.equal(body.success, false)
  assert.equal(body.message, body.error)
  for (const text of expectedTexts) assert.ok(body.message.match(text), `"${body.message}" must contain ${text}`)
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
  const { get } = newVisitor(app)
  const { status, body } = await get('/api/skills/search?keyword=house%20wiring')
  assert.equal(status, 200)
  assert.deepEqual(Object.keys(body), ['data', 'page', 'limit', 'count'])
  assert.deepEqual(Object.keys(body.data[0]), PUBLIC_SKILL_FIELDS)
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
    const searchResponse = await get(`/api/skills/search?keyword=${encodeURIComponent(text)}`)
    const names = searchResponse.body.data.slice(0, 5).map(({ skill_name }: any) => skill_name)
    assert.ok(
      names.some((name: string) => expected.test(name)),
      `${text}: ${names}`,
    )
  }
  const emptyResponse = await get('/api/skills/search?keyword=qqqqzzzzxxxx')
  assert.deepEqual([emptyResponse.status, emptyResponse.body], [200, { data: [], page: 1, limit: 20, count: 0 }])
  assertError(await get('/api/skills/search?keyword=qqqqzzzzxxxx&page=2'), 400, 'query.page')
  assertError(await get('/api/skills/search'), 400, 'query.keyword: is required')
  assertError(await get('/api/skills/search?keyword=we'), 400, 'query.keyword', 'at least 3 characters')
  assertError(await get('/api/skills/search?keyword=%20%20%20'), 400, 'query.keyword')
  assertError(await get(`/api/skills/search?keyword=${'x'.repeat(101)}`), 400, 'query.keyword')
  assert.equal((await get('/api/skills/search?keyword=wel&other=1')).status, 200)
})

test('page numbers start at 1, and pages after the last one are rejected', async () => {
  const { app } = await setUp()
  const { get } = newVisitor(app)
  const firstPage = (await get('/api/skills/search?keyword=machine&limit=50')).body
  assert.ok(firstPage.count > 50 && firstPage.data.length === 50)
  const lastPage = Math.ceil(firstPage.count / 50)
  const lastPageResponse = await get(`/api/skills/search?keyword=machine&limit=50&page=${lastPage}`)
  assert.equal(lastPageResponse.body.data.length, firstPage.count - 50 * (lastPage - 1))
  assert.equal(lastPageResponse.body.page, lastPage)
  assertError(
    await get(`/api/skills/search?keyword=machine&limit=50&page=${lastPage + 1}`),
    400,
    'query.page',
    `at most ${lastPage}`,
  )
  for (const page of ['0', '-1', '1.5', 'x', '', '1e3', '99999999999999999999'])
    assertError(await get(`/api/skills?page=${page}`), 400, 'query.page')
  for (const limit of ['0', '51', 'x', '2.0']) assertError(await get(`/api/skills?limit=${limit}`), 400, 'query.limit')
  assertError(await get('/api/skills?page=0&limit=51'), 400, 'query.page', 'query.limit')
})

test('skills are listed by ID and can be filtered by master skill and sub-skill', async () => {
  const { app, current } = await setUp()
  const { get } = newVisitor(app)
  const firstPage = (await get('/api/skills')).body
  assert.deepEqual(
    [firstPage.count, firstPage.page, firstPage.limit, firstPage.data.length],
    [current.skills.length, 1, 20, 20],
  )
  assert.deepEqual(Object.keys(firstPage.data[0]), PUBLIC_SKILL_FIELDS)
  assert.equal(firstPage.data[0].skill_id, `sk_${current.skills[0]!.number}`)
  const secondPage = (await get('/api/skills?page=2&limit=10')).body
  assert.deepEqual(secondPage.data, firstPage.data.slice(10))
  const lastPage = Math.ceil(current.skills.length / 50)
  assert.equal((await get(`/api/skills?limit=50&page=${lastPage}`)).status, 200)
  assertError(await get(`/api/skills?limit=50&page=${lastPage + 1}`), 400, 'query.page')
  const skillsOfMaster = (await get('/api/skills?master_skill_id=ms_2&limit=50')).body
  assert.equal(skillsOfMaster.count, current.master(2)!.skillCount)
  assert.ok(skillsOfMaster.data.every(({ master_skill_id }: any) => master_skill_id === 'ms_2'))
  const skillsOfSubSkill = (await get('/api/skills?sub_skill_id=ss_201&master_skill_id=ms_2')).body
  assert.equal(skillsOfSubSkill.count, current.subSkill(201)!.skillCount)
  const emptyResponse = await get('/api/skills?sub_skill_id=ss_201&master_skill_id=ms_1')
  assert.deepEqual([emptyResponse.status, emptyResponse.body.count], [200, 0])
  assertError(await get('/api/skills?sub_skill_id=201'), 400, 'query.sub_skill_id')
})

test('master skills and sub-skills are listed with their number of skills', async () => {
  const { app, current } = await setUp()
  const { get } = newVisitor(app)
  const masters = (await get('/api/skills/masters?limit=50')).body
  assert.equal(masters.count, current.masters.length)
  assert.deepEqual(masters.data[1], {
    master_skill_id: 'ms_2',
    master_skill_name: 'Electrical work',
    skills: current.master(2)!.skillCount,
  })
  const subSkills = (await get('/api/skills/sub-skills?master_skill_id=ms_2&limit=50')).body
  assert.deepEqual(Object.keys(subSkills.data[0]), [
    'sub_skill_id',
    'sub_skill_name',
    'master_skill_id',
    'master_skill_name',
    'skills',
  ])
  const skillCount = subSkills.data.reduce((total: number, { skills }: any) => total + skills, 0)
  assert.equal(skillCount, current.master(2)!.skillCount)
  assert.equal((await get('/api/skills/sub-skills')).body.count, current.subSkills.length)
  assert.equal((await get('/api/skills/sub-skills?master_skill_id=ms_999')).body.count, 0)
  assertError(await get('/api/skills/sub-skills?master_skill_id=two'), 400, 'query.master_skill_id')
  assertError(await get('/api/skills/masters?page=99'), 400, 'query.page')
})

test('master skills and sub-skills can be searched by name', async () => {
  const { app, current } = await setUp()
  const { get } = newVisitor(app)
  const masters = (await get('/api/skills/masters?keyword=ELECTRIC%20work')).body
  assert.ok(masters.data.some(({ master_skill_id }: any) => master_skill_id === 'ms_2'))
  assert.equal(masters.count, masters.data.length)
  assert.ok(masters.count < current.masters.length)
  const [firstSubSkill] = current.subSkills.filter(({ master }) => master.number === 2)
  const keyword = encodeURIComponent(firstSubSkill!.name)
  const found = (await get(`/api/skills/sub-skills?master_skill_id=ms_2&keyword=${keyword}`)).body
  assert.equal(found.data[0].sub_skill_name, firstSubSkill!.name)
  assert.deepEqual((await get('/api/skills/sub-skills?keyword=qqqzzz')).body, {
    data: [],
    page: 1,
    limit: 20,
    count: 0,
  })
  assertError(await get('/api/skills/masters?keyword=el'), 400, 'query.keyword')
})

test('a skill is returned with its description and aliases', async () => {
  const { app } = await setUp()
  const { get } = newVisitor(app)
  const { status, body } = await get('/api/skills/sk_2001')
  assert.equal(status, 200)
  assert.deepEqual(Object.keys(body), ['success', 'message', 'data'])
  assert.equal(body.success, true)
  assert.deepEqual(Object.keys(body.data), [...PUBLIC_SKILL_FIELDS, 'description', 'aliases'])
  assert.ok(body.data.aliases.includes('बिजली का काम'))
  for (const id of ['sk_999999999', 'sk_0', 'nope', 'ss_201', '%00']) assertError(await get(`/api/skills/${id}`), 404)
})

test('a skill can be selected, read and deleted', async () => {
  const { app } = await setUp()
  const { get, post, delete: remove } = newVisitor(app)
  const createdResponse = await post('/api/selected-skills', { user_id: 'asha', ...wiringIds, extra: 'ignored' })
  assert.equal(createdResponse.status, 201, JSON.stringify(createdResponse.body))
  assert.deepEqual(Object.keys(createdResponse.body), ['success', 'message', 'data'])
  assert.equal(createdResponse.body.success, true)
  assert.deepEqual(Object.keys(createdResponse.body.data), SELECTED_SKILL_FIELDS)
  const { selected_skill_id, ...otherFields } = createdResponse.body.data
  assert.match(selected_skill_id, /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/)
  const time = new Date(app.clock.now()).toISOString()
  assert.deepEqual(otherFields, { user_id: 'asha', ...wiringIds, createdAt: time, updatedAt: time })

  const readResponse = await get(`/api/selected-skills/${selected_skill_id.toUpperCase()}`)
  assert.equal(readResponse.status, 200)
  const names = {
    skill_name: 'House wiring',
    sub_skill_name: 'House and building wiring',
    master_skill_name: 'Electrical work',
  }
  assert.deepEqual(readResponse.body.data, { ...createdResponse.body.data, ...names })
  const listResponse = await get('/api/selected-skills?user_id=asha')
  assert.deepEqual(listResponse.body, { data: [readResponse.body.data], page: 1, limit: 20, count: 1 })

  assertError(await post('/api/selected-skills', { user_id: 'asha', ...wiringIds }), 409, 'already selected')
  const deletedResponse = await remove(`/api/selected-skills/${selected_skill_id}`)
  assert.deepEqual(
    [deletedResponse.status, deletedResponse.body.success, deletedResponse.body.data],
    [200, true, createdResponse.body.data],
  )
  assertError(await remove(`/api/selected-skills/${selected_skill_id}`), 404, selected_skill_id)
  assertError(await get(`/api/selected-skills/${selected_skill_id}`), 404)
  for (const id of ['sk_2001', 'nope', `${selected_skill_id}0`]) {
    assertError(await remove(`/api/selected-skills/${id}`), 404)
    assertError(await get(`/api/selected-skills/${id}`), 404)
  }
  assert.equal((await post('/api/selected-skills', { user_id: 'asha', ...wiringIds })).status, 201)
})

test('the count of selected skills is consistent with the listed items while selections are added', async () => {
  const { app } = await setUp()
  const { get, post } = newVisitor(app)
  for (let round = 0; round < 20; round++) {
    const user_id = `round ${round}`
    const [, ...lists] = await Promise.all([
      post('/api/selected-skills', { user_id, ...wiringIds }),
      ...Array.from({ length: 3 }, () => get(`/api/selected-skills?user_id=${encodeURIComponent(user_id)}`)),
    ])
    for (const { body } of lists) assert.equal(body.count, body.data.length)
  }
})

test('invalid selections are rejected', async () => {
  const { app } = await setUp()
  const { post, get } = newVisitor(app)
  const validBody = { user_id: 'vikram', ...wiringIds }
  for (const field of Object.keys(validBody) as (keyof typeof validBody)[]) {
    const { [field]: _, ...bodyWithoutField } = validBody
    assertError(await post('/api/selected-skills', bodyWithoutField), 400, `${field}: is required`)
    for (const value of [7, null, '', ' ', ['sk_2001'], 'a\0b'])
      assertError(await post('/api/selected-skills', { ...validBody, [field]: value }), 400, field)
  }
  assertError(await post('/api/selected-skills', {}), 400, ...Object.keys(validBody))
  assertError(await post('/api/selected-skills', { ...validBody, user_id: 'x'.repeat(129) }), 400, 'user_id')
  assertError(await post('/api/selected-skills', { ...validBody, skill_id: 'sk_999999999' }), 404, 'sk_999999999')
  assertError(await post('/api/selected-skills', { ...validBody, skill_id: 'welding' }), 404, 'welding')
  assertError(
    await post('/api/selected-skills', { ...validBody, sub_skill_id: 'ss_202' }),
    400,
    'sub_skill_id',
    'ss_201',
  )
  assertError(
    await post('/api/selected-skills', { ...validBody, master_skill_id: 'ms_1' }),
    400,
    'master_skill_id',
    'ms_2',
  )
  assertError(
    await post('/api/selected-skills', { ...validBody, sub_skill_id: 'x', master_skill_id: 'y' }),
    400,
    'sub_skill_id',
    'master_skill_id',
  )
  assert.equal((await get('/api/selected-skills?user_id=vikram')).body.count, 0, 'nothing was stored')
  for (const user_id of ['x', '😀'.repeat(128), " o'brien; --"])
    assert.equal((await post('/api/selected-skills', { ...validBody, user_id })).status, 201)
  assertError(await get('/api/selected-skills'), 400, 'query.user_id: is required')
  assertError(await get('/api/selected-skills?user_id='), 400, 'query.user_id')
  assertError(await get('/api/selected-skills?user_id=a%00b'), 400, 'query.user_id')
  assertError(await get(`/api/selected-skills?user_id=${'x'.repeat(129)}`), 400, 'query.user_id')
})

test('a body that is not a JSON object is rejected', async () => {
  const { app } = await setUp()
  const post = (body: string, contentType = 'application/json') =>
    app.fetch('/api/selected-skills', {
      method: 'POST',
      body,
      headers: { 'content-type': contentType, 'x-forwarded-for': '198.51.100.250' },
    })
  assertError(await post('{"user_id'), 400, 'body')
  assertError(await post('[]'), 400)
  assertError(await post('{}', 'text/plain'), 415)
  assertError(await post(`{"user_id":"${'x'.repeat(262_144)}"}`), 413)
})

test('a hundred concurrent requests for the same selection create one selection', async () => {
  const { app } = await setUp()
  const { post, get } = newVisitor(app)
  const responses = await Promise.all(
    Array.from({ length: 100 }, () => post('/api/selected-skills', { user_id: 'crowd', ...wiringIds })),
  )
  const statuses = responses.map(({ status }) => status).sort()
  assert.deepEqual(statuses, [201, ...Array(99).fill(409)])
  assert.equal((await get('/api/selected-skills?user_id=crowd')).status, 429)
  assert.equal((await newVisitor(app).get('/api/selected-skills?user_id=crowd')).body.count, 1)
})

test('selections are listed newest first, in pages', async () => {
  const { app, clock, current } = await setUp()
  const { post, get } = newVisitor(app)
  const selectedSkills = current.skills.slice(0, 5)
  for (const { number, sub } of selectedSkills) {
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
    [`sk_${selectedSkills[2]!.number}`, `sk_${selectedSkills[1]!.number}`],
  )
  assert.deepEqual([page.page, page.limit, page.count], [2, 2, 5])
  assertError(await get('/api/selected-skills?user_id=many&limit=2&page=4'), 400, 'query.page')
  assertError(await get('/api/selected-skills?user_id=unknown&page=2'), 400, 'query.page')
})

test('admin routes require the admin key', async () => {
  const { app } = await setUp()
  const { get } = newVisitor(app)
  const routes = ['/api/admin/counts', '/api/admin/top-skills', '/api/admin/rate-limits']
  const { key } = await app.fixtures.createOrg()
  for (const route of routes) {
    assertError(await get(route), 403, 'Access denied: send the admin key')
    for (const wrongKey of [' ', 'x', `${ADMIN_KEY}x`, ADMIN_KEY.slice(1), ADMIN_KEY.toUpperCase(), key.keyId])
      assertError(await get(route, { 'x-api-key': wrongKey }), 403, 'is not the admin key')
    assertError(await get(`${route}?limit=0&page=x`), 403)
    assert.equal((await get(route, { 'x-api-key': ADMIN_KEY })).status, 200)
  }
  assertError(await get('/api/admin/nothing', { 'x-api-key': ADMIN_KEY }), 404)
})

test('the operator can read the catalogue totals and the most selected skills', async () => {
  const { app, context, clock, current } = await setUp()
  const { post, get } = newVisitor(app)
  const adminHeaders = { 'x-api-key': ADMIN_KEY }
  await context.db.queries.deleteFrom('selected_skills').execute()
  const bricklayingIds = { skill_id: 'sk_1001', sub_skill_id: 'ss_101', master_skill_id: 'ms_1' }
  for (const [user_id, skill] of [
    ['a', wiringIds],
    ['b', wiringIds],
    ['c', wiringIds],
    ['a', bricklayingIds],
  ] as const)
    assert.equal((await post('/api/selected-skills', { user_id, ...skill })).status, 201)
  const { orgId } = await app.fixtures.createOrg()
  await context.db.transaction((tx) =>
    requestSkill(tx, { orgId, mode: 'test' }, clock, { name: 'Underwater basketry' }),
  )
  const { request } = await context.db.transaction((tx) =>
    requestSkill(tx, { orgId, mode: 'test' }, clock, { name: 'Underwater knitting' }),
  )
  await context.db.transaction((tx) => rejectRequest(tx, clock, request.request_id, undefined))
  const counts = (await get('/api/admin/counts', adminHeaders)).body
  assert.equal(counts.success, true)
  assert.deepEqual(counts.data, {
    master_skills: current.masters.length,
    sub_skills: current.subSkills.length,
    skills: current.skills.length,
    selected_skills: 4,
    users: 3,
    pending_skill_requests: 1,
  })
  const topSkills = (await get('/api/admin/top-skills?limit=1', adminHeaders)).body
  assert.deepEqual(topSkills, {
    data: [{ skill_id: 'sk_2001', skill_name: 'House wiring', selections: 3 }],
    page: 1,
    limit: 1,
    count: 2,
  })
  assert.equal((await get('/api/admin/top-skills?limit=1&page=2', adminHeaders)).body.data[0].skill_id, 'sk_1001')
  assertError(await get('/api/admin/top-skills?limit=1&page=3', adminHeaders), 400, 'query.page')
  assertError(await get('/api/admin/top-skills?limit=51', adminHeaders), 400, 'query.limit')
})
