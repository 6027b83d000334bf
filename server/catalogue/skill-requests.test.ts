import assert from 'node:assert/strict'
import { test } from 'node:test'
import { startApp, type TestApp } from '../../test/support/app.ts'
import { setLimits } from '../access/key-limits.ts'
import type { Mode } from '../access/keys.ts'
import { HOUR } from '../platform/clock.ts'
import { approveRequest, findOpenRequest, onRequestResolved, onSkillApproved, rejectRequest } from './skill-requests.ts'

const REQUEST = ['request_id', 'name', 'status', 'skill_id', 'created_at']

/** A caller who may ask as often as the test wants. */
async function partner({ given, context, as }: TestApp, mode: Mode = 'live', org?: string) {
  const orgId = org ?? (await given.org()).orgId
  const key = await given.key(orgId, { mode })
  const rates = { rate: 1000, burst: 1000, minute: 10_000, day: 100_000 }
  await context.db.transaction(async (tx) => {
    for (const bucket of ['key', 'skillRequests', 'reads'] as const) await setLimits(tx, key.keyId, { bucket, rates })
  })
  await context.keyring.refresh()
  return { ...as(key), orgId, key }
}

test('skill requests', async (t) => {
  const app = await startApp(t)
  const { context, clock } = app
  const approve = (id: string, subNumber = 101, verifiable = false) =>
    context.db.transaction((tx) => approveRequest(tx, clock, id, { subNumber, verifiable }))
  const reject = (id: string) => context.db.transaction((tx) => rejectRequest(tx, clock, id))

  await t.test('a new name is taken down, a repeat gets the open request', async () => {
    const { post, get } = await partner(app)
    const made = await post('/skill-requests', {
      name: 'Bamboo scaffolding tying',
      context: 'High-rise work in Kolkata',
    })
    assert.equal(made.status, 201, JSON.stringify(made.body))
    assert.deepEqual(Object.keys(made.body.data), REQUEST)
    const { request_id } = made.body.data
    assert.match(request_id, /^SR_[0-9A-HJKMNP-TV-Z]{26}$/)
    assert.deepEqual(made.body.data, {
      request_id,
      name: 'Bamboo scaffolding tying',
      status: 'pending',
      skill_id: null,
      created_at: '2026-03-11T06:30:00.000Z',
    })
    const repeat = await post('/skill-requests', { name: ' BAMBOO  scaffolding TYING' })
    assert.equal(repeat.status, 200)
    assert.deepEqual(repeat.body.data, made.body.data)
    const read = await get(`/skill-requests/${request_id}`)
    assert.deepEqual([read.status, read.body.data], [200, made.body.data])
  })

  await t.test('a name of the catalogue is answered with its skill', async () => {
    const { post, get } = await partner(app)
    const first = await post('/skill-requests', { name: 'house WIRING' })
    assert.equal(first.status, 200)
    assert.equal(first.body.data.status, 'duplicate')
    assert.equal(first.body.data.skill_id, 'sk_2001')
    const again = await post('/skill-requests', { name: 'House wiring' })
    assert.deepEqual([again.status, again.body.data], [200, first.body.data])
    assert.equal((await get('/skill-requests?status=duplicate')).body.data.items.length, 1)
    assert.equal((await get('/skill-requests?status=pending')).body.data.items.length, 0)
  })

  await t.test('names have 2 to 120 characters, contexts up to 500', async () => {
    const { post, get } = await partner(app)
    const refused = async (body: unknown, ...paths: string[]) => {
      const answer = await post('/skill-requests', body)
      assert.equal(answer.status, 400, JSON.stringify(body))
      assert.deepEqual(
        answer.body.error.details.map(({ path }: any) => path),
        paths,
      )
    }
    await refused(undefined, 'body')
    await refused({}, 'name')
    await refused({ name: 'x' }, 'name')
    await refused({ name: 'x'.repeat(121) }, 'name')
    await refused({ name: '   ' }, 'name')
    await refused({ name: 7, context: 'x'.repeat(501), more: true }, 'more', 'name', 'context')
    assert.equal((await post('/skill-requests', { name: 'Zq' })).status, 201)
    assert.equal((await post('/skill-requests', { name: '😀'.repeat(120), context: '😀'.repeat(500) })).status, 201)
    assert.equal((await get('/skill-requests')).body.data.items.length, 2)
  })

  await t.test('organisations and modes do not see each other', async () => {
    const ours = await partner(app)
    const ourTest = await partner(app, 'test', ours.orgId)
    const theirs = await partner(app)
    const name = 'Peacock feather craft'
    const made = await ours.post('/skill-requests', { name })
    const path = `/skill-requests/${made.body.data.request_id}`
    for (const other of [ourTest, theirs]) {
      assert.equal((await other.get(path)).status, 404)
      assert.deepEqual((await other.get('/skill-requests')).body.data, { items: [], next_cursor: null })
      const own = await other.post('/skill-requests', { name })
      assert.equal(own.status, 201)
      assert.notEqual(own.body.data.request_id, made.body.data.request_id)
    }
    assert.equal((await ours.get('/skill-requests')).body.data.items.length, 1)
    assert.equal((await ours.get('/skill-requests/SR_01ARZ3NDEKTSV4RRFFQ69G5FAV')).status, 404)
    for (const malformed of ['nope', 'SR_x', 'JM_01ARZ3NDEKTSV4RRFFQ69G5FAV']) {
      const answer = await ours.get(`/skill-requests/${malformed}`)
      assert.equal(answer.status, 400, malformed)
      assert.equal(answer.body.error.details[0].path, 'path.request_id')
    }
  })

  await t.test('the list is newest first, by status, in pages that stay put', async () => {
    const { post, get } = await partner(app)
    const ask = async (name: string) => (await post('/skill-requests', { name })).body.data.request_id
    const ids: string[] = []
    for (let i = 0; i < 7; i++) ids.unshift(await ask(`Listed skill ${i}`))
    const first = await get('/skill-requests?limit=3')
    const idsOf = (answer: any) => answer.body.data.items.map(({ request_id }: any) => request_id)
    assert.deepEqual(idsOf(first), ids.slice(0, 3))
    await ask('Listed later')
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
      const answer = await get(`/skill-requests?${query}`)
      assert.equal(answer.status, 400, query)
      assert.equal(answer.body.error.details[0].path, path)
    }
    assert.equal((await get('/skill-requests?limit=100')).status, 200)
  })

  await t.test('a retry with the same Idempotency-Key gets the first answer', async () => {
    const { post } = await partner(app)
    const options = { idempotencyKey: 'once' }
    const made = await post('/skill-requests', { name: 'Camel driving' }, options)
    const retry = await post('/skill-requests', { name: 'Camel driving' }, options)
    assert.deepEqual([retry.status, retry.body], [201, made.body])
    assert.equal(retry.headers.get('idempotency-replayed'), 'true')
    assert.equal((await post('/skill-requests', { name: 'Other' }, options)).status, 422)
  })

  await t.test('the same name asked forty times at once is one request', async () => {
    const { post, get } = await partner(app)
    const answers = await Promise.all(
      Array.from({ length: 40 }, (_, i) => post('/skill-requests', { name: i % 2 ? 'Kite making' : 'KITE  MAKING' })),
    )
    assert.deepEqual(answers.map(({ status }) => status).sort(), [...Array(39).fill(200), 201])
    assert.equal(new Set(answers.map(({ body }) => body.data.request_id)).size, 1)
    assert.equal((await get('/skill-requests')).body.data.items.length, 1)
  })

  await t.test('approval adds the skill and settles the requests of every organisation', async () => {
    const one = await partner(app)
    const two = await partner(app, 'test')
    const name = 'Dhokra  casting'
    const first = (await one.post('/skill-requests', { name })).body.data
    const second = (await two.post('/skill-requests', { name: 'dhokra casting' })).body.data
    const other = (await two.post('/skill-requests', { name: 'Dhokra polishing' })).body.data
    const told: string[] = []
    const forget = [
      onSkillApproved(async (tx, skill) => {
        const row = await tx.selectFrom('skills').select('name').where('number', '=', skill.number).executeTakeFirst()
        told.push(`skill ${skill.nameKey} ${row?.name}`)
      }),
      onRequestResolved(async (_tx, request) => void told.push(`${request.request_id} ${request.status}`)),
    ]
    const { version } = context.catalogue.current
    clock.advance(HOUR)
    const { skill, requests } = await approve(first.request_id, 201, true)
    for (const stop of forget) stop()
    assert.equal(requests.length, 2)
    assert.deepEqual(told, [
      'skill dhokracasting Dhokra casting',
      `${first.request_id} approved`,
      `${second.request_id} approved`,
    ])
    await context.catalogue.refresh()
    assert.ok(context.catalogue.current.version > version)
    assert.ok(skill.number >= 1_000_000)
    const skill_id = `sk_${skill.number}`
    const seen = (await one.get(`/skills/${skill_id}`)).body.data
    assert.equal(seen.name, 'Dhokra casting')
    assert.equal(seen.sub_skill.sub_skill_id, 'ss_201')
    assert.equal(seen.verifiable, true)
    assert.equal((await one.get('/skills/search?q=dhokra')).body.data.items[0].skill_id, skill_id)
    for (const [who, asked] of [
      [one, first],
      [two, second],
    ] as const) {
      const now = (await who.get(`/skill-requests/${asked.request_id}`)).body.data
      assert.deepEqual(now, { ...asked, status: 'approved', skill_id })
    }
    assert.equal((await two.get(`/skill-requests/${other.request_id}`)).body.data.status, 'pending')
    assert.equal(await findOpenRequest(context.db.queries, { orgId: one.orgId, mode: 'live' }, name), undefined)
    const repeat = await one.post('/skill-requests', { name })
    assert.deepEqual([repeat.status, repeat.body.data.status, repeat.body.data.skill_id], [200, 'duplicate', skill_id])
  })

  await t.test('what is decided stays decided', async () => {
    const { post } = await partner(app)
    const approved = (await post('/skill-requests', { name: 'Lac bangle making' })).body.data.request_id
    const rejected = (await post('/skill-requests', { name: 'Being nice' })).body.data.request_id
    await approve(approved)
    assert.equal((await reject(rejected)).status, 'rejected')
    for (const id of [approved, rejected]) {
      for (const decide of [approve, reject])
        await assert.rejects(decide(id), { code: 'CONFLICT', message: new RegExp(`^${id} is decided already: `) })
    }
    await assert.rejects(approve('SR_NOBODYASKED'), { code: 'NOT_FOUND' })
    const open = (await post('/skill-requests', { name: 'Lac seal making' })).body.data.request_id
    await assert.rejects(approve(open, 99_999), { code: 'NOT_FOUND', message: /ss_99999/ })
    const again = await post('/skill-requests', { name: 'Being nice' })
    assert.equal(again.status, 201, 'a rejected name may be asked for again')
  })

  await t.test('where a handler fails, nothing of the approval stays', async () => {
    const { post, get } = await partner(app)
    const { request_id } = (await post('/skill-requests', { name: 'Doomed skill' })).body.data
    const stop = onRequestResolved(async () => {
      throw new Error('the event could not be written')
    })
    await assert.rejects(approve(request_id), /could not be written/)
    stop()
    await context.catalogue.refresh()
    assert.equal((await get(`/skill-requests/${request_id}`)).body.data.status, 'pending')
    assert.equal(context.catalogue.current.named('Doomed skill'), undefined)
  })

  await t.test('a request made during its approval is not left open', async () => {
    const asking = await Promise.all(Array.from({ length: 8 }, () => partner(app)))
    const { post } = await partner(app)
    const { request_id } = (await post('/skill-requests', { name: 'Racing skill' })).body.data
    await Promise.all([
      ...asking.slice(0, 4).map((who) => who.post('/skill-requests', { name: 'Racing skill' })),
      approve(request_id),
      ...asking.slice(4).map((who) => who.post('/skill-requests', { name: 'Racing skill' })),
    ])
    for (const { get } of asking) {
      const [item] = (await get('/skill-requests')).body.data.items
      assert.ok(['approved', 'duplicate'].includes(item.status), item.status)
      assert.match(item.skill_id, /^sk_1\d{6}$/)
    }
  })

  await t.test('asking and reading need skills:request', async () => {
    const { orgId } = await app.given.org()
    const weak = app.as(await app.given.key(orgId, { scopes: ['skills:read'] }))
    for (const answer of [
      await weak.post('/skill-requests', {}),
      await weak.get('/skill-requests'),
      await weak.get('/skill-requests/SR_01ARZ3NDEKTSV4RRFFQ69G5FAV'),
    ])
      assert.equal(answer.body.error.code, 'SCOPE_MISSING')
  })
})
