import assert from 'node:assert/strict'
import { test } from 'node:test'
import { ADMIN_KEY, startApp, type TestApp } from '../../../test/support/app.ts'
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

/** Calls from an address of their own, so that the limits of one test are not those of another. */
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

function refused({ status, body }: { status: number; body: any }, expected: number, ...words: (string | RegExp)[]) {
  assert.equal(status, expected, JSON.stringify(body))
  assert.deepEqual(Object.keys(body), ['success', 'message', 'error'])
  assert.equal(body.success, false)
  assert.equal(body.message, body.error)
  for (const word of words) assert.ok(body.message.match(word), `${body.message} tells of ${word}`)
}

test('the public catalogue', async (t) => {
  const app = await startApp(t, { config: { trustProxy: ['127.0.0.1'] } })
  const { context, clock } = app
  const { current } = context.catalogue

  await t.test('search by keyword, best first', async () => {
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
    refused(await get('/api/skills/search?keyword=qqqqzzzzxxxx&page=2'), 400, 'query.page')
    refused(await get('/api/skills/search'), 400, 'query.keyword: is required')
    refused(await get('/api/skills/search?keyword=we'), 400, 'query.keyword', 'at least 3 characters')
    refused(await get('/api/skills/search?keyword=%20%20%20'), 400, 'query.keyword')
    refused(await get(`/api/skills/search?keyword=${'x'.repeat(101)}`), 400, 'query.keyword')
    assert.equal((await get('/api/skills/search?keyword=wel&other=1')).status, 200)
  })

  await t.test('pages count from 1 and end with the last', async () => {
    const { get } = visitor(app)
    const first = (await get('/api/skills/search?keyword=machine&limit=50')).body
    assert.ok(first.count > 50 && first.data.length === 50)
    const last = Math.ceil(first.count / 50)
    const end = await get(`/api/skills/search?keyword=machine&limit=50&page=${last}`)
    assert.equal(end.body.data.length, first.count - 50 * (last - 1))
    assert.equal(end.body.page, last)
    refused(
      await get(`/api/skills/search?keyword=machine&limit=50&page=${last + 1}`),
      400,
      'query.page',
      `at most ${last}`,
    )
    for (const page of ['0', '-1', '1.5', 'x', '', '1e3', '99999999999999999999'])
      refused(await get(`/api/skills?page=${page}`), 400, 'query.page')
    for (const limit of ['0', '51', 'x', '2.0']) refused(await get(`/api/skills?limit=${limit}`), 400, 'query.limit')
    refused(await get('/api/skills?page=0&limit=51'), 400, 'query.page', 'query.limit')
  })

  await t.test('the whole list by id, and what stands under a master skill or a sub-skill', async () => {
    const { get } = visitor(app)
    const all = (await get('/api/skills')).body
    assert.deepEqual([all.count, all.page, all.limit, all.data.length], [current.skills.length, 1, 20, 20])
    assert.deepEqual(Object.keys(all.data[0]), PUBLIC)
    assert.equal(all.data[0].skill_id, `sk_${current.skills[0]!.number}`)
    const second = (await get('/api/skills?page=2&limit=10')).body
    assert.deepEqual(second.data, all.data.slice(10))
    const lastPage = Math.ceil(current.skills.length / 50)
    assert.equal((await get(`/api/skills?limit=50&page=${lastPage}`)).status, 200)
    refused(await get(`/api/skills?limit=50&page=${lastPage + 1}`), 400, 'query.page')
    const under = (await get('/api/skills?master_skill_id=ms_2&limit=50')).body
    assert.equal(under.count, current.master(2)!.skills)
    assert.ok(under.data.every(({ master_skill_id }: any) => master_skill_id === 'ms_2'))
    const sub = (await get('/api/skills?sub_skill_id=ss_201&master_skill_id=ms_2')).body
    assert.equal(sub.count, current.subSkill(201)!.skills)
    const nothing = await get('/api/skills?sub_skill_id=ss_201&master_skill_id=ms_1')
    assert.deepEqual([nothing.status, nothing.body.count], [200, 0])
    refused(await get('/api/skills?sub_skill_id=201'), 400, 'query.sub_skill_id')
  })

  await t.test('master skills and sub-skills, with how many skills they hold', async () => {
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
    refused(await get('/api/skills/sub-skills?master_skill_id=two'), 400, 'query.master_skill_id')
    refused(await get('/api/skills/masters?page=99'), 400, 'query.page')
  })

  await t.test('one skill, with description and aliases', async () => {
    const { get } = visitor(app)
    const { status, body } = await get('/api/skills/sk_2001')
    assert.equal(status, 200)
    assert.deepEqual(Object.keys(body), ['success', 'message', 'data'])
    assert.equal(body.success, true)
    assert.deepEqual(Object.keys(body.data), [...PUBLIC, 'description', 'aliases'])
    assert.ok(body.data.aliases.includes('बिजली का काम'))
    for (const id of ['sk_999999999', 'sk_0', 'nope', 'ss_201', '%00']) refused(await get(`/api/skills/${id}`), 404)
  })

  await t.test('a skill is selected, read, and taken back', async () => {
    const { get, post, delete: remove } = visitor(app)
    const made = await post('/api/selected-skills', { user_id: 'asha', ...wiring, extra: 'ignored' })
    assert.equal(made.status, 201, JSON.stringify(made.body))
    assert.deepEqual(Object.keys(made.body), ['success', 'message', 'data'])
    assert.equal(made.body.success, true)
    assert.deepEqual(Object.keys(made.body.data), SELECTED)
    const { selected_skill_id, ...rest } = made.body.data
    assert.match(selected_skill_id, /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/)
    const time = '2026-03-11T06:30:00.000Z'
    assert.deepEqual(rest, { user_id: 'asha', ...wiring, createdAt: time, updatedAt: time })

    const one = await get(`/api/selected-skills/${selected_skill_id.toUpperCase()}`)
    assert.equal(one.status, 200)
    const named = {
      skill_name: 'House wiring',
      sub_skill_name: 'House and building wiring',
      master_skill_name: 'Electrical work',
    }
    assert.deepEqual(one.body.data, { ...made.body.data, ...named })
    const list = await get('/api/selected-skills?user_id=asha')
    assert.deepEqual(list.body, { data: [one.body.data], page: 1, limit: 20, count: 1 })

    refused(await post('/api/selected-skills', { user_id: 'asha', ...wiring }), 409, 'already selected')
    const gone = await remove(`/api/selected-skills/${selected_skill_id}`)
    assert.deepEqual([gone.status, gone.body.success, gone.body.data], [200, true, made.body.data])
    refused(await remove(`/api/selected-skills/${selected_skill_id}`), 404, selected_skill_id)
    refused(await get(`/api/selected-skills/${selected_skill_id}`), 404)
    for (const id of ['sk_2001', 'nope', `${selected_skill_id}0`]) {
      refused(await remove(`/api/selected-skills/${id}`), 404)
      refused(await get(`/api/selected-skills/${id}`), 404)
    }
    assert.equal((await post('/api/selected-skills', { user_id: 'asha', ...wiring })).status, 201)
  })

  await t.test('a list read while it grows counts what it shows', async () => {
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

  await t.test('what a selection needs', async () => {
    const { post, get } = visitor(app)
    const all = { user_id: 'vikram', ...wiring }
    for (const field of Object.keys(all) as (keyof typeof all)[]) {
      const { [field]: _, ...without } = all
      refused(await post('/api/selected-skills', without), 400, `${field}: is required`)
      for (const value of [7, null, '', ' ', ['sk_2001'], 'a\0b'])
        refused(await post('/api/selected-skills', { ...all, [field]: value }), 400, field)
    }
    refused(await post('/api/selected-skills', {}), 400, ...Object.keys(all))
    refused(await post('/api/selected-skills', { ...all, user_id: 'x'.repeat(129) }), 400, 'user_id')
    refused(await post('/api/selected-skills', { ...all, skill_id: 'sk_999999999' }), 404, 'sk_999999999')
    refused(await post('/api/selected-skills', { ...all, skill_id: 'welding' }), 404, 'welding')
    refused(await post('/api/selected-skills', { ...all, sub_skill_id: 'ss_202' }), 400, 'sub_skill_id', 'ss_201')
    refused(await post('/api/selected-skills', { ...all, master_skill_id: 'ms_1' }), 400, 'master_skill_id', 'ms_2')
    refused(
      await post('/api/selected-skills', { ...all, sub_skill_id: 'x', master_skill_id: 'y' }),
      400,
      'sub_skill_id',
      'master_skill_id',
    )
    assert.equal((await get('/api/selected-skills?user_id=vikram')).body.count, 0, 'nothing was stored')
    for (const user_id of ['x', '😀'.repeat(128), " o'brien; --"])
      assert.equal((await post('/api/selected-skills', { ...all, user_id })).status, 201)
    refused(await get('/api/selected-skills'), 400, 'query.user_id: is required')
    refused(await get('/api/selected-skills?user_id='), 400, 'query.user_id')
    refused(await get('/api/selected-skills?user_id=a%00b'), 400, 'query.user_id')
    refused(await get(`/api/selected-skills?user_id=${'x'.repeat(129)}`), 400, 'query.user_id')
  })

  await t.test('a body that is no JSON object', async () => {
    const { address, send } = { address: '198.51.100.250', send: app.fetch }
    const post = (body: string, type = 'application/json') =>
      send('/api/selected-skills', {
        method: 'POST',
        body,
        headers: { 'content-type': type, 'x-forwarded-for': address },
      })
    refused(await post('{"user_id'), 400, 'body')
    refused(await post('[]'), 400)
    refused(await post('{}', 'text/plain'), 415)
    refused(await post(`{"user_id":"${'x'.repeat(262_144)}"}`), 413)
  })

  await t.test('the same selection a hundred times at once is made once', async () => {
    const { post, get } = visitor(app)
    const answers = await Promise.all(
      Array.from({ length: 100 }, () => post('/api/selected-skills', { user_id: 'crowd', ...wiring })),
    )
    const statuses = answers.map(({ status }) => status).sort()
    assert.deepEqual(statuses, [201, ...Array(99).fill(409)])
    assert.equal((await get('/api/selected-skills?user_id=crowd')).status, 429)
    assert.equal((await visitor(app).get('/api/selected-skills?user_id=crowd')).body.count, 1)
  })

  await t.test('selections are listed newest first, in pages', async () => {
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
    refused(await get('/api/selected-skills?user_id=many&limit=2&page=4'), 400, 'query.page')
    refused(await get('/api/selected-skills?user_id=nobody&page=2'), 400, 'query.page')
  })

  await t.test('admin routes open with the admin key alone', async () => {
    const { get } = visitor(app)
    const routes = ['/api/admin/counts', '/api/admin/top-skills', '/api/admin/rate-limits']
    const { key } = await app.given.org()
    for (const route of routes) {
      refused(await get(route), 403, 'Access denied')
      for (const wrong of [' ', 'x', `${ADMIN_KEY}x`, ADMIN_KEY.slice(1), ADMIN_KEY.toUpperCase(), key.keyId])
        refused(await get(route, { 'x-api-key': wrong }), 403)
      refused(await get(`${route}?limit=0&page=x`), 403)
      assert.equal((await get(route, { 'x-api-key': ADMIN_KEY })).status, 200)
    }
    refused(await get('/api/admin/nothing', { 'x-api-key': ADMIN_KEY }), 404)
  })

  await t.test('counts and the skills that most users have', async () => {
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
    await context.db.transaction((tx) => requestSkill(tx, { orgId, mode: 'test' }, clock, { name: 'Unheard of' }))
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
    refused(await get('/api/admin/top-skills?limit=1&page=3', admin), 400, 'query.page')
    refused(await get('/api/admin/top-skills?limit=51', admin), 400, 'query.limit')
  })
})
