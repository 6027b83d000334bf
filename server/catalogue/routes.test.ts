import assert from 'node:assert/strict'
import { test } from 'node:test'
import { startApp, type TestApp, type TestKey } from '../../test/support/app.ts'
import { setLimits } from '../access/key-limits.ts'
import { LIMIT_CLASSES } from '../access/limits/table.ts'
import { HOUR, MINUTE, SECOND } from '../platform/clock.ts'
import { skillId } from './ids.ts'
import { addSkill } from './store.ts'

const RECORD = ['skill_id', 'name', 'description', 'aliases', 'sub_skill', 'master_skill', 'verifiable']

/** A key whose calls are not what a test is about. */
async function tirelessKey({ given, context }: TestApp, mode: 'test' | 'live' = 'live'): Promise<TestKey> {
  const { orgId } = await given.org()
  const key = await given.key(orgId, { mode })
  const rates = { rate: 10_000, burst: 10_000, minute: 100_000 }
  await context.db.transaction(async (tx) => {
    for (const bucket of ['key', ...LIMIT_CLASSES] as const) await setLimits(tx, key.keyId, { bucket, rates })
  })
  await context.keyring.refresh()
  return key
}

type Calls = ReturnType<TestApp['as']>

/** Every item of a list, page by page. */
async function walk(calls: Calls, path: string): Promise<any[]> {
  const items: any[] = []
  for (let cursor: string | null = ''; cursor !== null; ) {
    const { status, body } = await calls.get(`${path}${cursor ? `&cursor=${cursor}` : ''}`)
    assert.equal(status, 200, JSON.stringify(body))
    items.push(...body.data.items)
    cursor = body.data.next_cursor
  }
  return items
}

function refusedAt(answer: { status: number; body: any }, ...paths: string[]) {
  assert.equal(answer.status, 400, JSON.stringify(answer.body))
  assert.equal(answer.body.error.code, 'VALIDATION_FAILED')
  assert.deepEqual(
    answer.body.error.details.map(({ path }: { path: string }) => path),
    paths,
  )
}

const q = encodeURIComponent

test('skills for partners', async (t) => {
  const app = await startApp(t)
  const key = await tirelessKey(app)
  const calls = app.as(key)
  const { context } = app

  await t.test('search finds typos, Hindi in either script, and prefixes, best first', async () => {
    const names = async (text: string) => {
      const { status, body } = await calls.get(`/skills/search?q=${q(text)}&limit=5`)
      assert.equal(status, 200, JSON.stringify(body))
      assert.equal(body.success, true)
      const scores = body.data.items.map(({ score }: { score: number }) => score)
      assert.deepEqual(
        scores,
        scores.toSorted((a: number, b: number) => b - a),
      )
      assert.ok(scores.every((score: number) => score > 0 && score <= 1))
      for (const item of body.data.items) assert.deepEqual(Object.keys(item), [...RECORD, 'score'])
      return body.data.items.map(({ name, aliases }: any) => [name, ...aliases].join(' ; '))
    }
    for (const [text, expected] of [
      ['weldng', /weld/i],
      ['bijli', /bijli|electric|wiring/i],
      ['राजमिस्त्री', /राजमिस्त्री/],
      ['bricklay', /Bricklaying/],
      ['wiring house', /House wiring/],
    ] as const) {
      const found = await names(text)
      assert.match(found[0] ?? 'nothing', expected, text)
    }
    const exact = await calls.get('/skills/search?q=Bricklaying')
    assert.deepEqual([exact.body.data.items[0].skill_id, exact.body.data.items[0].score], ['sk_1001', 1])
    const none = await calls.get('/skills/search?q=qqqqzzzzxxxx')
    assert.deepEqual(none.body.data, { items: [], next_cursor: null })
  })

  await t.test('search takes 3 to 100 characters and pages of 1 to 50', async () => {
    refusedAt(await calls.get('/skills/search'), 'query.q')
    refusedAt(await calls.get('/skills/search?q=we'), 'query.q')
    refusedAt(await calls.get('/skills/search?q=%20%20%20'), 'query.q')
    refusedAt(await calls.get(`/skills/search?q=${'w'.repeat(101)}`), 'query.q')
    refusedAt(await calls.get('/skills/search?q=we&limit=51'), 'query.q', 'query.limit')
    refusedAt(await calls.get('/skills/search?q=weld&limit=0'), 'query.limit')
    refusedAt(await calls.get('/skills/search?q=weld&limit=x'), 'query.limit')
    refusedAt(await calls.get('/skills/search?q=weld&q=other'), 'query.q')
    assert.equal((await calls.get('/skills/search?q=wel')).status, 200)
    assert.equal((await calls.get(`/skills/search?q=${q('बिज')}`)).status, 200, 'three code points')
    assert.equal((await calls.get(`/skills/search?q=${'w'.repeat(100)}&unknown=1`)).status, 200)
    assert.equal((await calls.get('/skills/search?q=work&limit=50')).body.data.items.length, 50)
    assert.equal((await calls.get('/skills/search?q=work')).body.data.items.length, 25)
    assert.equal((await calls.get('/skills/search?q=work&limit=1')).body.data.items.length, 1)
  })

  await t.test('pages of a search neither overlap nor skip, whatever their size', async () => {
    const inSevens = await walk(calls, '/skills/search?q=machine&limit=7')
    const inFifties = await walk(calls, '/skills/search?q=machine&limit=50')
    assert.ok(inSevens.length > 50)
    assert.deepEqual(inSevens, inFifties)
    assert.equal(new Set(inSevens.map(({ skill_id }) => skill_id)).size, inSevens.length)
  })

  await t.test('a search goes on where it was when skills are added in between', async () => {
    const before = await walk(calls, '/skills/search?q=machine&limit=10')
    const first = await calls.get('/skills/search?q=machine&limit=10')
    const rest = await calls.get(`/skills/search?q=machine&limit=50&cursor=${first.body.data.next_cursor}`)
    await context.db.transaction((tx) =>
      addSkill(tx, app.clock, { name: 'Machine', subNumber: 101, source: 'request', sourceId: 'SR_MACHINE' }),
    )
    await context.catalogue.refresh()
    const again = await calls.get(`/skills/search?q=machine&limit=50&cursor=${first.body.data.next_cursor}`)
    assert.equal((await calls.get('/skills/search?q=machine')).body.data.items[0].name, 'Machine', 'ranks above all')
    const ids = (answer: any) => answer.body.data.items.map(({ skill_id }: any) => skill_id)
    assert.deepEqual(ids(again).slice(0, 20), ids(rest).slice(0, 20))
    assert.equal(before[10].skill_id, ids(again)[0])
  })

  await t.test('a skill that was added a moment ago is there', async () => {
    const add = (name: string) =>
      context.db.transaction((tx) =>
        addSkill(tx, app.clock, { name, subNumber: 101, source: 'request', sourceId: `SR_${name}` }),
      )
    const { number } = await add('Kite making')
    assert.equal((await calls.get(`/skills/${skillId(number)}`)).body.data?.name, 'Kite making')
    const { number: second } = await add('Well digging')
    const byId = await calls.post('/skills/lookup', { skill_ids: [skillId(second)] })
    assert.deepEqual([byId.body.data.found[0]?.name, byId.body.data.missing], ['Well digging', []])
    await add('Moon digging')
    const byName = await calls.post('/skills/lookup', { names: ['Moon digging', 'Sun digging'] })
    assert.deepEqual([byName.body.data.found[0]?.name, byName.body.data.missing], ['Moon digging', ['Sun digging']])
  })

  await t.test('a cursor is taken back only as it was given, and only by its own list', async () => {
    const { next_cursor: cursor } = (await calls.get('/skills/search?q=machine&limit=5')).body.data
    assert.equal((await calls.get(`/skills/search?q=machine&limit=9&cursor=${cursor}`)).status, 200)
    assert.equal((await calls.get('/skills/search?q=machine')).status, 200, 'an answer to remember')
    const altered = cursor.slice(0, -2) + (cursor.at(-2) === 'A' ? 'B' : 'A') + cursor.at(-1)
    for (const bad of ['x', altered, `${cursor}A`, cursor.slice(1), '%00', '', 'a'.repeat(2001), `${cursor}%3D`]) {
      refusedAt(await calls.get(`/skills/search?q=machine&cursor=${bad}`), 'query.cursor')
    }
    refusedAt(await calls.get(`/skills/search?q=welding&cursor=${cursor}`), 'query.cursor')
    refusedAt(await calls.get(`/skills?cursor=${cursor}`), 'query.cursor')
    const browsing = (await calls.get('/skills?limit=5')).body.data.next_cursor
    refusedAt(await calls.get(`/skills?master_skill_id=ms_2&cursor=${browsing}`), 'query.cursor')
  })

  await t.test('browsing goes by id, under a master skill or a sub-skill', async () => {
    const numbers = (items: any[]) => items.map(({ skill_id }) => Number(skill_id.slice(3)))
    const all = (await calls.get('/skills?limit=100')).body.data.items
    assert.equal(all.length, 100)
    assert.deepEqual(Object.keys(all[0]), RECORD)
    assert.deepEqual(
      numbers(all),
      numbers(all).toSorted((a, b) => a - b),
    )
    const electrical = await walk(calls, '/skills?master_skill_id=ms_2&limit=17')
    assert.equal(electrical.length, context.catalogue.current.master(2)!.skills)
    assert.ok(electrical.every(({ master_skill }) => master_skill.master_skill_id === 'ms_2'))
    const wiring = await walk(calls, '/skills?sub_skill_id=ss_201&limit=100')
    assert.equal(wiring.length, context.catalogue.current.subSkill(201)!.skills)
    assert.deepEqual(wiring, await walk(calls, '/skills?sub_skill_id=ss_201&master_skill_id=ms_2&limit=100'))
    for (const nothing of [
      'sub_skill_id=ss_201&master_skill_id=ms_1',
      'sub_skill_id=ss_999999',
      'master_skill_id=ms_0',
    ])
      assert.deepEqual((await calls.get(`/skills?${nothing}`)).body.data, { items: [], next_cursor: null })
    assert.equal((await calls.get('/skills')).body.data.items.length, 25)
    refusedAt(
      await calls.get('/skills?limit=101&sub_skill_id=201&master_skill_id='),
      'query.master_skill_id',
      'query.sub_skill_id',
      'query.limit',
    )
  })

  await t.test('one skill by its id', async () => {
    const { status, body } = await calls.get('/skills/sk_2001')
    assert.equal(status, 200)
    assert.deepEqual(Object.keys(body.data), RECORD)
    assert.equal(body.data.name, 'House wiring')
    assert.deepEqual(body.data.sub_skill, { sub_skill_id: 'ss_201', name: 'House and building wiring' })
    assert.deepEqual(body.data.master_skill, { master_skill_id: 'ms_2', name: 'Electrical work' })
    assert.ok(body.data.aliases.includes('बिजली का काम'))
    assert.equal(body.data.verifiable, true)
    for (const unknown of ['sk_999999999', 'sk_0', 'sk_02001'])
      assert.equal((await calls.get(`/skills/${unknown}`)).status, 404, unknown)
    for (const malformed of ['2001', 'sk_', 'sk_1234567890', 'SK_2001', 'ss_201', '%ff', 'sk_%'])
      refusedAt(await calls.get(`/skills/${malformed}`), 'path.skill_id')
  })

  await t.test('lookup by ids or by names', async () => {
    const found = async (body: object) => {
      const answer = await calls.post('/skills/lookup', body)
      assert.equal(answer.status, 200, JSON.stringify(answer.body))
      const { found, missing } = answer.body.data
      return [found.map((skill: any) => skill.skill_id), missing]
    }
    const ids = ['sk_2001', 'sk_999999999', 'sk_1001', 'sk_2001', 'sk_999999999']
    assert.deepEqual(await found({ skill_ids: ids }), [['sk_2001', 'sk_1001'], ['sk_999999999']])
    const names = [' house  WIRING', 'HouseWiring', 'wireman', 'Bricklaying']
    assert.deepEqual(await found({ names }), [['sk_2001', 'sk_1001'], ['wireman']], 'own names only')
    const hundred = Array.from({ length: 100 }, (_, i) => `sk_${900_000_000 + i}`)
    assert.deepEqual(await found({ skill_ids: hundred }), [[], hundred])
    refusedAt(await calls.post('/skills/lookup', {}), 'body')
    refusedAt(await calls.post('/skills/lookup', { skill_ids: ['sk_1'], names: ['x'] }), 'body')
    refusedAt(await calls.post('/skills/lookup', { skill_ids: [] }), 'skill_ids')
    refusedAt(await calls.post('/skills/lookup', { skill_ids: [...hundred, 'sk_1'] }), 'skill_ids')
    refusedAt(await calls.post('/skills/lookup', { names: [] }), 'names')
    refusedAt(await calls.post('/skills/lookup', { names: hundred.concat('x') }), 'names')
    refusedAt(await calls.post('/skills/lookup', { skill_ids: ['sk_1', 'two'] }), 'skill_ids[1]')
    refusedAt(await calls.post('/skills/lookup', { names: ['x'], more: 1 }), 'more')
    refusedAt(await calls.post('/skills/lookup'), 'body')
  })

  await t.test('match answers each phrase with its likeliest skills', async () => {
    const phrases = ['House wiring', 'raj mistri', 'arc weldng']
    const { status, body } = await calls.post('/skills/match', { phrases })
    assert.equal(status, 200, JSON.stringify(body))
    const { matches } = body.data
    assert.deepEqual(
      matches.map(({ phrase }: any) => phrase),
      phrases,
    )
    const [exact, alias, fuzzy] = matches.map(({ candidates }: any) => candidates[0])
    assert.deepEqual(Object.keys(exact), ['skill_id', 'name', 'score', 'method'])
    assert.deepEqual([exact.skill_id, exact.method], ['sk_2001', 'exact'])
    assert.deepEqual([alias.skill_id, alias.method], ['sk_1001', 'alias'])
    assert.match(fuzzy.name, /weld/i)
    for (const { candidates } of matches) {
      assert.ok(candidates.length <= 3)
      for (const { score, method } of candidates) {
        assert.ok(score >= 0 && score <= 1)
        assert.ok(['exact', 'alias', 'fuzzy', 'semantic'].includes(method))
      }
    }
    const many = await calls.post('/skills/match', { phrases: ['welding'], limit: 10 })
    assert.equal(many.body.data.matches[0].candidates.length, 10)
    const fifty = Array.from({ length: 50 }, () => 'ab')
    assert.equal((await calls.post('/skills/match', { phrases: fifty })).status, 200)
    assert.equal((await calls.post('/skills/match', { phrases: ['x'.repeat(200)] })).status, 200)
    refusedAt(await calls.post('/skills/match', { phrases: [] }), 'phrases')
    refusedAt(await calls.post('/skills/match', { phrases: [...fifty, 'ab'] }), 'phrases')
    refusedAt(
      await calls.post('/skills/match', { phrases: ['ok', 'x', '  ', 'x'.repeat(201)] }),
      'phrases[1]',
      'phrases[2]',
      'phrases[3]',
    )
    for (const limit of [0, 11, 1.5, '3'])
      refusedAt(await calls.post('/skills/match', { phrases: ['ab'], limit }), 'limit')
    refusedAt(await calls.post('/skills/match', { limit: 3 }), 'phrases')
  })

  await t.test('extract tells where a text mentions a skill, in the units of JavaScript strings', async () => {
    const text = '👷🏽‍♀️ Wanted: house wiring and Bricklaying. राजमिस्त्री also.'
    const { status, body } = await calls.post('/skills/extract', { text })
    assert.equal(status, 200, JSON.stringify(body))
    const { skills } = body.data
    const wiring = skills.find(({ skill_id }: any) => skill_id === 'sk_2001')
    assert.deepEqual(Object.keys(wiring), ['skill_id', 'name', 'score', 'mentions'])
    assert.deepEqual(wiring.mentions, [
      { start: text.indexOf('house'), end: text.indexOf(' and'), text: 'house wiring' },
    ])
    for (const { mentions, score } of skills) {
      assert.ok(score >= 0 && score <= 1)
      for (const { start, end, text: part } of mentions) assert.equal(text.slice(start, end), part)
    }
    const masonry = skills.find(({ skill_id }: any) => skill_id === 'sk_1001')
    assert.deepEqual(
      masonry.mentions.map((mention: any) => mention.text),
      ['Bricklaying', 'राजमिस्त्री'],
    )
    assert.equal((await calls.post('/skills/extract', { text, limit: 1 })).body.data.skills.length, 1)
    assert.equal((await calls.post('/skills/extract', { text: '😀'.repeat(50_000) })).status, 200, 'code points')
    refusedAt(await calls.post('/skills/extract', { text: 'x'.repeat(50_001) }), 'text')
    refusedAt(await calls.post('/skills/extract', { text: '' }), 'text')
    refusedAt(await calls.post('/skills/extract', { text: ' \n' }), 'text')
    for (const limit of [0, 101]) refusedAt(await calls.post('/skills/extract', { text, limit }), 'limit')
  })

  await t.test('all of it needs skills:read', async () => {
    const weak = app.as(await app.given.key(key.orgId, { scopes: ['skills:request', 'mandates:read'] }))
    for (const answer of [
      await weak.get('/skills'),
      await weak.get('/skills/search?q=x'),
      await weak.get('/skills/sk_1001'),
      await weak.post('/skills/lookup', {}),
      await weak.post('/skills/match', {}),
      await weak.post('/skills/extract', {}),
    ]) {
      assert.equal(answer.status, 403)
      assert.equal(answer.body.error.code, 'SCOPE_MISSING')
    }
  })

  await t.test('calls are charged to their classes', async () => {
    const fresh = app.as(await app.given.key(key.orgId))
    const limitOf = async (answer: Promise<{ headers: Headers }>) => (await answer).headers.get('ratelimit-limit')
    assert.equal(await limitOf(fresh.get('/skills')), '4000')
    assert.equal(await limitOf(fresh.get('/skills/search?q=weld')), '4000')
    assert.equal(await limitOf(fresh.get('/skills/sk_1001')), '600')
    assert.equal(await limitOf(fresh.post('/skills/lookup', { names: ['x'] })), '600')
    assert.equal(await limitOf(fresh.post('/skills/match', { phrases: ['xx'] })), '300')
    assert.equal(await limitOf(fresh.post('/skills/extract', { text: 'x' })), '300')
    assert.equal(await limitOf(fresh.post('/skill-requests', { name: 'Zebra grooming' })), '60')
    assert.equal(await limitOf(fresh.get('/skill-requests')), '1200')
  })
})

test('what a TEST key may read of the catalogue', async (t) => {
  const app = await startApp(t)
  const { clock } = app
  const { orgId } = await app.given.org()

  await t.test('1,500 different skills a day; those stay readable', async () => {
    clock.set('2026-03-11T06:30:00.000Z')
    const calls = app.as(await tirelessKey(app, 'test'))
    let cursor = ''
    let last = ''
    for (let page = 1; page <= 15; page++) {
      const { status, body } = await calls.get(`/skills?limit=100${cursor}`)
      assert.equal(status, 200, JSON.stringify(body))
      last = body.data.items.at(-1).skill_id
      cursor = `&cursor=${body.data.next_cursor}`
    }
    const refused = await calls.get(`/skills?limit=1${cursor}`)
    assert.equal(refused.status, 429)
    assert.equal(refused.body.error.code, 'DAILY_CAP')
    assert.match(refused.body.error.message, /1500 different skills to this key .*Try again in 43200 seconds\.$/)
    assert.equal(refused.body.data, undefined)
    assert.equal(refused.headers.get('retry-after'), String(12 * 3600), 'until midnight in India')
    const unseen = app.context.catalogue.current.skills.find(({ number }) => number > Number(last.slice(3)))!
    const search = await calls.get(`/skills/search?q=${q(unseen.name)}`)
    assert.equal(search.body.error?.code, 'DAILY_CAP', 'search and browse count together')
    assert.equal((await calls.get('/skills?limit=100')).status, 200, 'seen before')
    assert.equal((await calls.get('/skills/search?q=Bricklaying&limit=1')).status, 200)
    assert.equal((await calls.get(`/skills/sk_${unseen.number}`)).status, 200, 'a lookup is neither')
    clock.advance(12 * HOUR)
    assert.equal((await calls.get(`/skills?limit=100${cursor}`)).status, 200)
  })

  await t.test('20 browse pages an hour; one more starts a cooldown', async () => {
    const key = await tirelessKey(app, 'test')
    const calls = app.as(key)
    for (let call = 0; call < 25; call++)
      assert.equal((await calls.get('/skills?cursor=bad')).status, 400, 'no page, not counted')
    for (let page = 1; page <= 20; page++) assert.equal((await calls.get('/skills?limit=1')).status, 200)
    assert.equal((await calls.get('/skills/search?q=welding&limit=1')).status, 200, 'search has no pages')
    const refused = await calls.get('/skills?limit=1')
    assert.equal(refused.status, 429)
    assert.equal(refused.body.error.code, 'COOLDOWN')
    assert.match(refused.body.error.message, /may browse 20 pages .* in an hour\. Try again in 60 seconds\.$/)
    assert.equal(refused.headers.get('retry-after'), '60')
    assert.equal((await calls.get('/skills/search?q=welding')).body.error.code, 'COOLDOWN', 'the whole key rests')
    clock.advance(59 * SECOND)
    assert.equal((await calls.get('/skills/sk_1001')).status, 429)
    clock.advance(1 * SECOND)
    assert.equal((await calls.get('/skills/sk_1001')).status, 200)
    assert.equal((await calls.get('/skills?limit=1')).headers.get('retry-after'), '120', 'still within the hour')
    clock.advance(HOUR + MINUTE)
    assert.equal((await calls.get('/skills?limit=1')).status, 200)
  })

  await t.test('rate limits and scope come first', async () => {
    const calls = app.as(await app.given.key(orgId, { mode: 'test', scopes: ['mandates:read'] }))
    for (let page = 1; page <= 20; page++) {
      assert.equal((await calls.get('/skills')).body.error.code, 'SCOPE_MISSING')
    }
    assert.equal((await calls.get('/skills')).body.error.code, 'RATE_LIMITED')
  })
})
