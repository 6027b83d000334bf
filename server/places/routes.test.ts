import assert from 'node:assert/strict'
import { test } from 'node:test'
import { startApp } from '../../test/support/app.ts'
import { oncePerFile } from '../../test/support/cleanup.ts'
import { SECOND } from '../platform/clock.ts'

const startSharedApp = oncePerFile((t) => startApp(t))

async function openLookups() {
  const { as, fixtures, clock } = await startSharedApp()
  // Any valid key is accepted: no scope is needed.
  const { orgId } = await fixtures.createOrg()
  const client = as(await fixtures.createPartnerKey(orgId, { scopes: [] }))
  const get = (path: string) => {
    clock.advance(SECOND) // so that rate limits are not reached
    return client.get(path)
  }
  return { get }
}

test('places are found by name; each has four fields, and a page has 25 places', async () => {
  const { get } = await openLookups()
  const { status, body, headers } = await get('/locations?q=bangalore')
  assert.equal(status, 200)
  assert.equal(body.success, true)
  assert.deepEqual(body.data.items[0], {
    city: 'Bengaluru',
    district: 'Bengaluru Urban',
    state: 'Karnataka',
    pincode: '560001',
  })
  assert.equal(headers.get('ratelimit-limit'), '1200')
  assert.equal((await get('/locations?q=pa')).body.data.items.length, 25)
})

test('places are found by pincode, and by pincode and name', async () => {
  const { get } = await openLookups()
  const { items, next_cursor } = (await get('/locations?pincode=560066')).body.data
  assert.equal(next_cursor, null)
  assert.deepEqual(new Set(items.map((item: any) => item.city)), new Set(['Bengaluru', 'Whitefield']))
  assert.ok(items.every((item: any) => item.pincode === '560066'))
  const whitefieldItems = (await get('/locations?pincode=560066&q=whitefield')).body.data.items
  assert.equal(whitefieldItems[0].city, 'Whitefield')
  assert.deepEqual((await get('/locations?pincode=560066&q=mumbai')).body.data.items, [])
  assert.deepEqual((await get('/locations?pincode=999999')).body.data, { items: [], next_cursor: null })
  assert.deepEqual((await get('/locations?pincode=560066&state=Kerala')).body.data.items, [])
})

test('places can be filtered by state, in upper or lower case', async () => {
  const { get } = await openLookups()
  const biharItems = (await get('/locations?q=aurangabad&state=BIHAR')).body.data.items
  assert.ok(biharItems.length > 0 && biharItems.every((item: any) => item.state === 'Bihar'))
  const keralaPage = (await get('/locations?state=kerala&limit=1')).body.data
  assert.equal(keralaPage.items[0].state, 'Kerala')
  assert.equal(typeof keralaPage.next_cursor, 'string')
})

test('the pages of a place list have no gaps or duplicates', async () => {
  const { get } = await openLookups()
  const wholePage = (await get('/locations?q=new&limit=100')).body.data
  const collectedItems: unknown[] = []
  let cursor: string | null = ''
  for (let page = 0; cursor !== null && page < 20; page++) {
    const { data }: any = (await get(`/locations?q=new&limit=7${cursor && `&cursor=${cursor}`}`)).body
    collectedItems.push(...data.items)
    cursor = data.next_cursor
    if (collectedItems.length >= wholePage.items.length) break
  }
  assert.deepEqual(collectedItems.slice(0, wholePage.items.length), wholePage.items)
  const places = (collectedItems as any[]).map(({ city, district, state }) => `${city}|${district}|${state}`)
  assert.equal(new Set(places).size, places.length)
})

test('without a query, all places are listed, best known first', async () => {
  const { get } = await openLookups()
  const { items, next_cursor } = (await get('/locations?limit=3')).body.data
  assert.equal(items.length, 3)
  const nextItems = (await get(`/locations?limit=3&cursor=${next_cursor}`)).body.data.items
  assert.notDeepEqual(nextItems, items)
})

test('invalid query parameters are reported', async () => {
  const { get } = await openLookups()
  const invalidQueries: [query: string, path: string, message: RegExp][] = [
    ['q=', 'query.q', /at least 2 characters/],
    ['q=a', 'query.q', /at least 2 characters/],
    ['q=%20%20', 'query.q', /blank/],
    ['q=ab%00', 'query.q', /NUL/],
    [`q=${'a'.repeat(101)}`, 'query.q', /at most 100 characters/],
    ['q=pune&q=goa', 'query.q', /must be a string/],
    ['pincode=56003', 'query.pincode', /six digits/],
    ['pincode=', 'query.pincode', /six digits/],
    ['pincode=5600345', 'query.pincode', /six digits/],
    ['pincode=56003a', 'query.pincode', /six digits/],
    ['state=Atlantis', 'query.state', /not a state/],
    ['limit=0', 'query.limit', /at least 1/],
    ['limit=101', 'query.limit', /at most 100/],
    ['limit=ten', 'query.limit', /whole number/],
    ['cursor=garbage', 'query.cursor', /`next_cursor` that this endpoint returned/],
  ]
  for (const [query, path, message] of invalidQueries) {
    const { status, body } = await get(`/locations?${query}`)
    assert.equal(status, 400, query)
    assert.equal(body.error.code, 'VALIDATION_FAILED', query)
    const details = body.error.details.filter((detail: any) => detail.path === path)
    assert.ok(
      details.some((detail: any) => message.test(detail.message)),
      `${query}: ${JSON.stringify(body)}`,
    )
  }
  const allDetails = (await get('/locations?q=a&pincode=1&limit=0')).body.error.details
  assert.deepEqual(
    new Set(allDetails.map(({ path }: any) => path)),
    new Set(['query.q', 'query.pincode', 'query.limit']),
  )
})

test('a cursor from a different query is rejected', async () => {
  const { get } = await openLookups()
  const { next_cursor } = (await get('/locations?q=pa')).body.data
  assert.equal((await get(`/locations?q=pa&cursor=${next_cursor}`)).status, 200)
  const { status, body } = await get(`/locations?q=pu&cursor=${next_cursor}`)
  assert.equal(status, 400)
  assert.equal(body.error.details[0].path, 'query.cursor')
})

test('an unknown name returns no places', async () => {
  const { get } = await openLookups()
  for (const q of ['zzzzzz', '!!', '%F0%9F%98%80%F0%9F%98%80', '0000000', 'x'.repeat(100)]) {
    const { status, body } = await get(`/locations?q=${q}`)
    assert.equal(status, 200, q)
    assert.deepEqual(body.data, { items: [], next_cursor: null }, q)
  }
})
