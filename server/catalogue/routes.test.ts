import assert from 'node:assert/strict'
import { test } from 'node:test'
import { startApp, type TestApp } from '../../test/support/app.ts'
import { oncePerFile } from '../../test/support/cleanup.ts'
import { createPartner } from '../../test/support/partners.ts'
import { HOUR, MINUTE, SECOND } from '../platform/clock.ts'
import { skillId } from './ids.ts'
import { addSkill } from './store.ts'

const SKILL_FIELDS = ['skill_id', 'name', 'description', 'aliases', 'sub_skill', 'master_skill', 'verifiable']

type PartnerClient = ReturnType<TestApp['as']>

/** Reads all pages of a list. */
async function readAll(calls: PartnerClient, path: string): Promise<any[]> {
  const items: any[] = []
  for (let cursor: string | null = ''; cursor !== null; ) {
    const { status, body } = await calls.get(`${path}${cursor ? `&cursor=${cursor}` : ''}`)
    assert.equal(status, 200, JSON.stringify(body))
    items.push(...body.data.items)
    cursor = body.data.next_cursor
  }
  return items
}

function assertInvalid(response: { status: number; body: any }, ...paths: string[]) {
  assert.equal(response.status, 400, JSON.stringify(response.body))
  assert.equal(response.body.error.code, 'VALIDATION_FAILED')
  assert.deepEqual(
    response.body.error.details.map(({ path }: { path: string }) => path),
    paths,
  )
}

const encode = encodeURIComponent

const startShared = oncePerFile((t) => startApp(t, { config: { indexOnDemand: false } }))

async function setUp() {
  const app = await startShared()
  const key = (await createPartner(app)).key
  const calls = app.as(key)
  const { context } = app
  return { app, key, calls, context }
}

test('search matches typos, Hindi in either script and prefixes, best match first', async () => {
  const { calls } = await setUp()
  const searchNames = async (text: string) => {
    const { status, body } = await calls.get(`/skills/search?q=${encode(text)}&limit=5`)
    assert.equal(status, 200, JSON.stringify(body))
    assert.equal(body.success, true)
    const scores = body.data.items.map(({ score }: { score: number }) => score)
    assert.deepEqual(
      scores,
      scores.toSorted((a: number, b: number) => b - a),
    )
    assert.ok(scores.every((score: number) => score > 0 && score <= 1))
    for (const item of body.data.items) assert.deepEqual(Object.keys(item), [...SKILL_FIELDS, 'score'])
    return body.data.items.map(({ name, aliases }: any) => [name, ...aliases].join(' ; '))
  }
  for (const [text, expected] of [
    ['weldng', /weld/i],
    ['bijli', /bijli|electric|wiring/i],
    ['राजमिस्त्री', /राजमिस्त्री/],
    ['bricklay', /Bricklaying/],
    ['wiring house', /House wiring/],
  ] as const) {
    const foundNames = await searchNames(text)
    assert.match(foundNames[0] ?? 'nothing', expected, text)
  }
  const exactResponse = await calls.get('/skills/search?q=Bricklaying')
  assert.deepEqual([exactResponse.body.data.items[0].skill_id, exactResponse.body.data.items[0].score], ['sk_1001', 1])
  const emptyResponse = await calls.get('/skills/search?q=qqqqzzzzxxxx')
  assert.deepEqual(emptyResponse.body.data, { items: [], next_cursor: null })
})

test('search accepts queries of 3 to 100 characters and pages of 1 to 50 skills', async () => {
  const { calls } = await setUp()
  assertInvalid(await calls.get('/skills/search'), 'query.q')
  assertInvalid(await calls.get('/skills/search?q=we'), 'query.q')
  assertInvalid(await calls.get('/skills/search?q=%20%20%20'), 'query.q')
  assertInvalid(await calls.get(`/skills/search?q=${'w'.repeat(101)}`), 'query.q')
  assertInvalid(await calls.get('/skills/search?q=we&limit=51'), 'query.q', 'query.limit')
  assertInvalid(await calls.get('/skills/search?q=weld&limit=0'), 'query.limit')
  assertInvalid(await calls.get('/skills/search?q=weld&limit=x'), 'query.limit')
  assertInvalid(await calls.get('/skills/search?q=weld&q=other'), 'query.q')
  assert.equal((await calls.get('/skills/search?q=wel')).status, 200)
  assert.equal((await calls.get(`/skills/search?q=${encode('बिज')}`)).status, 200, 'three code points')
  assert.equal((await calls.get(`/skills/search?q=${'w'.repeat(100)}&unknown=1`)).status, 200)
  assert.equal((await calls.get('/skills/search?q=work&limit=50')).body.data.items.length, 50)
  assert.equal((await calls.get('/skills/search?q=work')).body.data.items.length, 25)
  assert.equal((await calls.get('/skills/search?q=work&limit=1')).body.data.items.length, 1)
})

test('search results can be limited to skills that can, or cannot, be measured', async () => {
  const { calls } = await setUp()
  const all = await readAll(calls, '/skills/search?q=machine&limit=50')
  const ids = (skills: any[]) => skills.map(({ skill_id }) => skill_id)
  for (const verifiable of [true, false]) {
    const expected = ids(all.filter((skill) => skill.verifiable === verifiable))
    assert.ok(expected.length > 5)
    assert.deepEqual(ids(await readAll(calls, `/skills/search?q=machine&limit=5&verifiable=${verifiable}`)), expected)
  }
  assertInvalid(await calls.get('/skills/search?q=machine&verifiable=maybe'), 'query.verifiable')
  const { next_cursor } = (await calls.get('/skills/search?q=machine&limit=5&verifiable=true')).body.data
  assertInvalid(await calls.get(`/skills/search?q=machine&cursor=${next_cursor}`), 'query.cursor')
})

test('search pages neither overlap nor skip results, whatever their size', async () => {
  const { calls } = await setUp()
  const resultsInPagesOf7 = await readAll(calls, '/skills/search?q=machine&limit=7')
  const resultsInPagesOf50 = await readAll(calls, '/skills/search?q=machine&limit=50')
  assert.ok(resultsInPagesOf7.length > 50)
  assert.deepEqual(resultsInPagesOf7, resultsInPagesOf50)
  assert.equal(new Set(resultsInPagesOf7.map(({ skill_id }) => skill_id)).size, resultsInPagesOf7.length)
})

test('the next search page continues after the previous one when skills are added in between', async () => {
  const { app, calls, context } = await setUp()
  const resultsBefore = await readAll(calls, '/skills/search?q=machine&limit=10')
  const firstPage = await calls.get('/skills/search?q=machine&limit=10')
  const nextPage = await calls.get(`/skills/search?q=machine&limit=50&cursor=${firstPage.body.data.next_cursor}`)
  await context.db.transaction((tx) =>
    addSkill(tx, app.clock, { name: 'Machine', subNumber: 101, source: 'request', sourceId: 'SR_MACHINE' }),
  )
  await context.catalogue.refresh()
  const nextPageAgain = await calls.get(`/skills/search?q=machine&limit=50&cursor=${firstPage.body.data.next_cursor}`)
  assert.equal((await calls.get('/skills/search?q=machine')).body.data.items[0].name, 'Machine', 'ranks above all')
  const ids = (response: any) => response.body.data.items.map(({ skill_id }: any) => skill_id)
  assert.deepEqual(ids(nextPageAgain).slice(0, 20), ids(nextPage).slice(0, 20))
  assert.equal(resultsBefore[10].skill_id, ids(nextPageAgain)[0])
})

test('a skill can be read immediately after it was added', async () => {
  const { app, calls, context } = await setUp()
  const addSkillNamed = (name: string) =>
    context.db.transaction((tx) =>
      addSkill(tx, app.clock, { name, subNumber: 101, source: 'request', sourceId: `SR_${name}` }),
    )
  const { number } = await addSkillNamed('Kite making')
  assert.equal((await calls.get(`/skills/${skillId(number)}`)).body.data?.name, 'Kite making')
  const { number: secondNumber } = await addSkillNamed('Well digging')
  const idResponse = await calls.post('/skills/lookup', { skill_ids: [skillId(secondNumber)] })
  assert.deepEqual([idResponse.body.data.found[0]?.name, idResponse.body.data.missing], ['Well digging', []])
  await addSkillNamed('Moon digging')
  const nameResponse = await calls.post('/skills/lookup', { names: ['Moon digging', 'Sun digging'] })
  assert.deepEqual(
    [nameResponse.body.data.found[0]?.name, nameResponse.body.data.missing],
    ['Moon digging', ['Sun digging']],
  )
})

test('an altered cursor, or a cursor of another list, is rejected', async () => {
  const { calls } = await setUp()
  const { next_cursor: cursor } = (await calls.get('/skills/search?q=machine&limit=5')).body.data
  assert.equal((await calls.get(`/skills/search?q=machine&limit=9&cursor=${cursor}`)).status, 200)
  assert.equal((await calls.get('/skills/search?q=machine')).status, 200, 'the first page')
  const altered = cursor.slice(0, -2) + (cursor.at(-2) === 'A' ? 'B' : 'A') + cursor.at(-1)
  for (const invalidCursor of [
    'x',
    altered,
    `${cursor}A`,
    cursor.slice(1),
    '%00',
    '',
    'a'.repeat(2001),
    `${cursor}%3D`,
  ])
    assertInvalid(await calls.get(`/skills/search?q=machine&cursor=${invalidCursor}`), 'query.cursor')
  assertInvalid(await calls.get(`/skills/search?q=welding&cursor=${cursor}`), 'query.cursor')
  assertInvalid(await calls.get(`/skills?cursor=${cursor}`), 'query.cursor')
  const browseCursor = (await calls.get('/skills?limit=5')).body.data.next_cursor
  assertInvalid(await calls.get(`/skills?master_skill_id=ms_2&cursor=${browseCursor}`), 'query.cursor')
})

test('browsed skills are sorted by ID and can be filtered by master skill and sub-skill', async () => {
  const { calls, context } = await setUp()
  const numbers = (items: any[]) => items.map(({ skill_id }) => Number(skill_id.slice(3)))
  const firstPage = (await calls.get('/skills?limit=100')).body.data.items
  assert.equal(firstPage.length, 100)
  assert.deepEqual(Object.keys(firstPage[0]), SKILL_FIELDS)
  assert.deepEqual(
    numbers(firstPage),
    numbers(firstPage).toSorted((a, b) => a - b),
  )
  const electricalSkills = await readAll(calls, '/skills?master_skill_id=ms_2&limit=17')
  assert.equal(electricalSkills.length, context.catalogue.current.master(2)!.skillCount)
  assert.ok(electricalSkills.every(({ master_skill }) => master_skill.master_skill_id === 'ms_2'))
  const wiringSkills = await readAll(calls, '/skills?sub_skill_id=ss_201&limit=100')
  assert.equal(wiringSkills.length, context.catalogue.current.subSkill(201)!.skillCount)
  assert.deepEqual(wiringSkills, await readAll(calls, '/skills?sub_skill_id=ss_201&master_skill_id=ms_2&limit=100'))
  const filtersWithoutSkills = [
    'sub_skill_id=ss_201&master_skill_id=ms_1',
    'sub_skill_id=ss_999999',
    'master_skill_id=ms_0',
  ]
  for (const filter of filtersWithoutSkills)
    assert.deepEqual((await calls.get(`/skills?${filter}`)).body.data, { items: [], next_cursor: null })
  assert.equal((await calls.get('/skills')).body.data.items.length, 25)
  assertInvalid(
    await calls.get('/skills?limit=101&sub_skill_id=201&master_skill_id='),
    'query.master_skill_id',
    'query.sub_skill_id',
    'query.limit',
  )
})

test('a skill can be read by its ID', async () => {
  const { calls } = await setUp()
  const { status, body } = await calls.get('/skills/sk_2001')
  assert.equal(status, 200)
  assert.deepEqual(Object.keys(body.data), SKILL_FIELDS)
  assert.equal(body.data.name, 'House wiring')
  assert.deepEqual(body.data.sub_skill, { sub_skill_id: 'ss_201', name: 'House and building wiring' })
  assert.deepEqual(body.data.master_skill, { master_skill_id: 'ms_2', name: 'Electrical work' })
  assert.ok(body.data.aliases.includes('बिजली का काम'))
  assert.equal(body.data.verifiable, true)
  for (const unknown of ['sk_999999999', 'sk_0', 'sk_02001'])
    assert.equal((await calls.get(`/skills/${unknown}`)).status, 404, unknown)
  for (const malformed of ['2001', 'sk_', 'sk_1234567890', 'SK_2001', 'ss_201', '%ff', 'sk_%'])
    assertInvalid(await calls.get(`/skills/${malformed}`), 'path.skill_id')
})

test('skills can be looked up by IDs or by names', async () => {
  const { calls } = await setUp()
  const lookUp = async (body: object) => {
    const response = await calls.post('/skills/lookup', body)
    assert.equal(response.status, 200, JSON.stringify(response.body))
    const { found, missing } = response.body.data
    return [found.map((skill: any) => skill.skill_id), missing]
  }
  const ids = ['sk_2001', 'sk_999999999', 'sk_1001', 'sk_2001', 'sk_999999999']
  assert.deepEqual(await lookUp({ skill_ids: ids }), [['sk_2001', 'sk_1001'], ['sk_999999999']])
  const names = [' house  WIRING', 'HouseWiring', 'wireman', 'Bricklaying']
  assert.deepEqual(await lookUp({ names }), [['sk_2001', 'sk_1001'], ['wireman']], 'aliases are not found')
  const hundredIds = Array.from({ length: 100 }, (_, i) => `sk_${900_000_000 + i}`)
  assert.deepEqual(await lookUp({ skill_ids: hundredIds }), [[], hundredIds])
  assertInvalid(await calls.post('/skills/lookup', {}), 'body')
  assertInvalid(await calls.post('/skills/lookup', { skill_ids: ['sk_1'], names: ['x'] }), 'body')
  assertInvalid(await calls.post('/skills/lookup', { skill_ids: [] }), 'skill_ids')
  assertInvalid(await calls.post('/skills/lookup', { skill_ids: [...hundredIds, 'sk_1'] }), 'skill_ids')
  assertInvalid(await calls.post('/skills/lookup', { names: [] }), 'names')
  assertInvalid(await calls.post('/skills/lookup', { names: hundredIds.concat('x') }), 'names')
  assertInvalid(await calls.post('/skills/lookup', { skill_ids: ['sk_1', 'two'] }), 'skill_ids[1]')
  assertInvalid(await calls.post('/skills/lookup', { names: ['x'], more: 1 }), 'more')
  assertInvalid(await calls.post('/skills/lookup'), 'body')
})

test('match returns the most likely skills for each phrase', async () => {
  const { calls } = await setUp()
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
  const tenCandidates = await calls.post('/skills/match', { phrases: ['welding'], limit: 10 })
  assert.equal(tenCandidates.body.data.matches[0].candidates.length, 10)
  const fiftyPhrases = Array.from({ length: 50 }, () => 'ab')
  assert.equal((await calls.post('/skills/match', { phrases: fiftyPhrases })).status, 200)
  assert.equal((await calls.post('/skills/match', { phrases: ['x'.repeat(200)] })).status, 200)
  assertInvalid(await calls.post('/skills/match', { phrases: [] }), 'phrases')
  assertInvalid(await calls.post('/skills/match', { phrases: [...fiftyPhrases, 'ab'] }), 'phrases')
  assertInvalid(
    await calls.post('/skills/match', { phrases: ['ok', 'x', '  ', 'x'.repeat(201)] }),
    'phrases[1]',
    'phrases[2]',
    'phrases[3]',
  )
  for (const limit of [0, 11, 1.5, '3'])
    assertInvalid(await calls.post('/skills/match', { phrases: ['ab'], limit }), 'limit')
  assertInvalid(await calls.post('/skills/match', { limit: 3 }), 'phrases')
})

test('extract returns mention positions in UTF-16 code units', async () => {
  const { calls } = await setUp()
  const text = '👷🏽‍♀️ Wanted: house wiring and Bricklaying. राजमिस्त्री also.'
  const { status, body } = await calls.post('/skills/extract', { text })
  assert.equal(status, 200, JSON.stringify(body))
  const { skills } = body.data
  const wiring = skills.find(({ skill_id }: any) => skill_id === 'sk_2001')
  assert.deepEqual(Object.keys(wiring), ['skill_id', 'name', 'score', 'requirement', 'mentions'])
  assert.equal(wiring.requirement, 'required')
  assert.deepEqual(wiring.mentions, [{ start: text.indexOf('house'), end: text.indexOf(' and'), text: 'house wiring' }])
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
  assertInvalid(await calls.post('/skills/extract', { text: 'x'.repeat(50_001) }), 'text')
  assertInvalid(await calls.post('/skills/extract', { text: '' }), 'text')
  assertInvalid(await calls.post('/skills/extract', { text: ' \n' }), 'text')
  for (const limit of [0, 101]) assertInvalid(await calls.post('/skills/extract', { text, limit }), 'limit')
})

test('all skill routes require the scope skills:read', async () => {
  const { app, key } = await setUp()
  const clientWithoutScope = app.as(
    await app.fixtures.createPartnerKey(key.orgId, { scopes: ['skills:request', 'mandates:read'] }),
  )
  for (const response of [
    await clientWithoutScope.get('/skills'),
    await clientWithoutScope.get('/skills/search?q=x'),
    await clientWithoutScope.get('/skills/sk_1001'),
    await clientWithoutScope.post('/skills/lookup', {}),
    await clientWithoutScope.post('/skills/match', {}),
    await clientWithoutScope.post('/skills/extract', {}),
  ]) {
    assert.equal(response.status, 403)
    assert.equal(response.body.error.code, 'SCOPE_MISSING')
  }
})

test('each skill route has the rate limit of its class', async () => {
  const { app, key } = await setUp()
  const freshCalls = app.as(await app.fixtures.createPartnerKey(key.orgId))
  const limitOf = async (response: Promise<{ headers: Headers }>) => (await response).headers.get('ratelimit-limit')
  assert.equal(await limitOf(freshCalls.get('/skills')), '4000')
  assert.equal(await limitOf(freshCalls.get('/skills/search?q=weld')), '4000')
  assert.equal(await limitOf(freshCalls.get('/skills/sk_1001')), '600')
  assert.equal(await limitOf(freshCalls.post('/skills/lookup', { names: ['x'] })), '600')
  assert.equal(await limitOf(freshCalls.post('/skills/match', { phrases: ['xx'] })), '300')
  assert.equal(await limitOf(freshCalls.post('/skills/extract', { text: 'x' })), '300')
  assert.equal(await limitOf(freshCalls.post('/skill-requests', { name: 'Zebra grooming' })), '60')
  assert.equal(await limitOf(freshCalls.get('/skill-requests')), '1200')
})

const startForLimits = oncePerFile((t) => startApp(t))

test('a TEST key can read 1,500 different skills per day, and can then still read the same skills again', async () => {
  const app = await startForLimits()
  const { clock } = app
  clock.set('2026-03-11T06:30:00.000Z')
  const calls = app.as((await createPartner(app, 'test')).key)
  let cursor = ''
  let lastSkillId = ''
  for (let page = 1; page <= 15; page++) {
    const { status, body } = await calls.get(`/skills?limit=100${cursor}`)
    assert.equal(status, 200, JSON.stringify(body))
    lastSkillId = body.data.items.at(-1).skill_id
    cursor = `&cursor=${body.data.next_cursor}`
  }
  const rejectedResponse = await calls.get(`/skills?limit=1${cursor}`)
  assert.equal(rejectedResponse.status, 429)
  assert.equal(rejectedResponse.body.error.code, 'DAILY_CAP')
  assert.match(
    rejectedResponse.body.error.message,
    /at most 1500 different skills per day to this key\. .*Try again in 12 hours, at midnight IST\.$/,
  )
  assert.equal(rejectedResponse.body.data, undefined)
  assert.equal(rejectedResponse.headers.get('retry-after'), String(12 * 3600), 'until midnight in India')
  const unseenSkill = app.context.catalogue.current.skills.find(({ number }) => number > Number(lastSkillId.slice(3)))!
  const searchResponse = await calls.get(`/skills/search?q=${encode(unseenSkill.name)}`)
  assert.equal(searchResponse.body.error?.code, 'DAILY_CAP', 'search and browse count together')
  assert.equal((await calls.get('/skills?limit=100')).status, 200, 'seen before')
  assert.equal((await calls.get('/skills/search?q=Bricklaying&limit=1')).status, 200)
  assert.equal((await calls.get(`/skills/sk_${unseenSkill.number}`)).status, 200, 'a lookup does not count')
  clock.advance(12 * HOUR)
  assert.equal((await calls.get(`/skills?limit=100${cursor}`)).status, 200)
})

test('a TEST key can browse 20 pages per hour, and the next page starts a cooldown', async () => {
  const app = await startForLimits()
  const { clock } = app
  const key = (await createPartner(app, 'test')).key
  const calls = app.as(key)
  for (let call = 0; call < 25; call++)
    assert.equal((await calls.get('/skills?cursor=bad')).status, 400, 'an invalid request does not count')
  for (let page = 1; page <= 20; page++) assert.equal((await calls.get('/skills?limit=1')).status, 200)
  assert.equal((await calls.get('/skills/search?q=welding&limit=1')).status, 200, 'search does not count')
  const rejectedResponse = await calls.get('/skills?limit=1')
  assert.equal(rejectedResponse.status, 429)
  assert.equal(rejectedResponse.body.error.code, 'COOLDOWN')
  assert.match(
    rejectedResponse.body.error.message,
    /may browse at most 20 pages .* per hour\. Try again in 60 seconds\.$/,
  )
  assert.equal(rejectedResponse.headers.get('retry-after'), '60')
  assert.equal(
    (await calls.get('/skills/search?q=welding')).body.error.code,
    'COOLDOWN',
    'the cooldown applies to the whole key',
  )
  clock.advance(59 * SECOND)
  assert.equal((await calls.get('/skills/sk_1001')).status, 429)
  clock.advance(1 * SECOND)
  assert.equal((await calls.get('/skills/sk_1001')).status, 200)
  assert.equal((await calls.get('/skills?limit=1')).headers.get('retry-after'), '120', 'still within the hour')
  clock.advance(HOUR + MINUTE)
  assert.equal((await calls.get('/skills?limit=1')).status, 200)
})

test('rate limits and scopes are checked before the limit of browse pages', async () => {
  const app = await startForLimits()
  const { orgId } = await app.fixtures.createOrg()
  const calls = app.as(await app.fixtures.createPartnerKey(orgId, { mode: 'test', scopes: ['mandates:read'] }))
  for (let page = 1; page <= 20; page++) {
    assert.equal((await calls.get('/skills')).body.error.code, 'SCOPE_MISSING')
  }
  assert.equal((await calls.get('/skills')).body.error.code, 'RATE_LIMITED')
})
