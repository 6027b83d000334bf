import assert from 'node:assert/strict'
import { test } from 'node:test'
import { startApp } from '../../../test/support/app.ts'
import { oncePerFile } from '../../../test/support/cleanup.ts'
import { signIn, signInMember } from '../../../test/support/console.ts'
import { insertOwnItems, insertResponses } from '../../../test/support/item-responses.ts'
import { updateItemStatistics } from '../../items/statistics-job.ts'
import { loadBank } from '../../questions/bank/bank.ts'

const startSharedApp = oncePerFile((t) => startApp(t))

async function setUp() {
  const app = await startSharedApp()
  const { orgId, key } = await app.fixtures.createOrg()
  const [owner, recruiter] = await Promise.all([
    signInMember(app, orgId, 'owner'),
    signInMember(app, orgId, 'recruiter'),
  ])
  return { app, orgId, key, owner, recruiter, base: `/orgs/${orgId}/live/questions` }
}

/** Retires a question of the built-in bank by responses, and returns its ID. */
async function retireBankItem(app: Awaited<ReturnType<typeof startApp>>, orgId: string, skillNumber: number) {
  const itemId = (await loadBank()).itemsOf(skillNumber)[0]!.id
  await insertResponses(app, { orgId, itemId, skillNumber, count: 200, pattern: 'miskeyed' })
  await updateItemStatistics(app.context)
  return itemId
}

test('skills are listed with the number of their questions by source, and can be searched', async () => {
  const { app, orgId, owner, base } = await setUp()
  await insertOwnItems(app, { orgId, skillNumber: 1001, ids: [`IT_${orgId.slice(4)}A`] })
  // An operator can retire a question of the built-in bank that nobody has answered yet.
  const [bankItem] = (await loadBank()).itemsOf(1001)
  const withoutStatistics = { item_id: bankItem!.id, skill_number: 1001, status: 'retired', updated_at: new Date() }
  await app.context.db.queries.insertInto('bank_items').values(withoutStatistics).execute()
  const { items } = (await owner.get(`${base}?search=bricklaying`)).body.data
  assert.deepEqual(
    items.map(({ skill_id, sources }: any) => [skill_id, sources.map(({ source }: any) => source)]),
    [['sk_1001', ['private', 'bank']]],
  )
  assert.deepEqual(items[0].sources[0], {
    source: 'private',
    active: 1,
    pilot: 0,
    retired: 0,
    responses: 0,
    enough: false,
  })
  assert.deepEqual([items[0].sources[1].retired, items[0].sources[1].responses], [1, 0])
  assert.equal((await owner.get(`${base}?source=private`)).body.data.items.length, 1)
  const first = (await owner.get(`${base}?limit=3`)).body.data
  const second = (await owner.get(`${base}?limit=3&cursor=${encodeURIComponent(first.next_cursor)}`)).body.data
  assert.equal(new Set([...first.items, ...second.items].map(({ skill_id }: any) => skill_id)).size, 6)
  assert.equal((await owner.get(`${base}/sk_999999`)).status, 404)
})

test('a retired question of the built-in bank can be restored by an operator only', async () => {
  const { app, orgId, owner, base } = await setUp()
  const other = await app.fixtures.createOrg()
  await app.fixtures.createMandate({ orgId: other.orgId, mode: 'live' })
  const itemId = await retireBankItem(app, orgId, 2001)
  const path = `${base}/sk_2001/${itemId}`
  const details = (await owner.get(path)).body.data
  assert.deepEqual(
    [details.status, details.retirement_reason, details.may_change, details.statistics.responses],
    ['retired', 'miskeyed', false, 200],
  )
  assert.ok(details.texts.some(({ language }: any) => language === 'hi'))
  assert.equal(details.texts[0].options.length, details.texts[1].options.length)
  assert.equal((await owner.post(`${path}/restore`)).status, 403)

  const operator = await signIn(app)
  const restored = await operator.post(`${path}/restore`)
  assert.deepEqual([restored.status, restored.body.data.status], [200, 'active'])
  // The responses so far do not retire it again.
  await insertResponses(app, { orgId, itemId, skillNumber: 2001, count: 5 })
  await updateItemStatistics(app.context)
  assert.equal((await owner.get(path)).body.data.status, 'active')

  // Retiring it reaches the mandates of all organisations, although the operator has opened one of them.
  assert.equal((await operator.post(`${path}/retire`)).body.data.retirement_reason, 'manual')
  const events = (await app.as(other.key).get('/events?acknowledged=all&limit=100')).body.data.items
  assert.deepEqual(
    events.filter(({ type }: any) => type === 'mandate.question_retired').map(({ data }: any) => data.reason),
    ['miskeyed', 'manual'],
  )
  await operator.post(`${path}/restore`)
  const audit = (await operator.get('/operator/audit?limit=50')).body.data.items
  assert.deepEqual(
    audit.filter(({ subject }: any) => subject === itemId).map(({ action }: any) => action),
    ['item.restore', 'item.retire', 'item.restore'],
  )
})

test('the text of own questions is shown to owners only, and never to another organisation', async () => {
  const { app, orgId, owner, recruiter, base } = await setUp()
  const itemId = `IT_${orgId.slice(4)}B`
  await insertOwnItems(app, { orgId, skillNumber: 1002, ids: [itemId] })
  await insertResponses(app, { orgId, itemId, skillNumber: 1002, source: 'private', count: 60 })
  await updateItemStatistics(app.context)
  const path = `${base}/sk_1002/${itemId}`
  const forOwner = (await owner.get(path)).body.data
  assert.deepEqual([forOwner.texts[0].options[0], forOwner.may_change], ['Right', true])
  const operator = await signIn(app)
  for (const user of [recruiter, operator]) {
    const response = await user.get(path)
    assert.deepEqual([response.body.data.texts, response.body.data.stem], [null, null])
    assert.equal(response.body.data.statistics.responses, 60)
    for (const text of [response, await user.get(`${base}/sk_1002`)])
      assert.doesNotMatch(JSON.stringify(text.body), /Private stem|Wrong one/)
  }
  assert.equal((await recruiter.post(`${path}/retire`)).status, 403)
  assert.equal((await owner.post(`${path}/retire`)).body.data.status, 'retired')

  const stranger = await setUp()
  const strangerPath = `${stranger.base}/sk_1002/${itemId}`
  assert.equal((await stranger.owner.get(strangerPath)).status, 404)
  assert.equal((await stranger.owner.post(`${strangerPath}/restore`)).status, 404)
  assert.equal((await stranger.owner.get(path)).status, 404)
})

test('the responses of an organisation are exported without people and times', async () => {
  const { app, orgId, owner } = await setUp()
  const itemId = (await loadBank()).itemsOf(2020)[0]!.id
  await insertResponses(app, { orgId, itemId, skillNumber: 2020, count: 10_500, language: 'hi' })
  await app.context.db.pool.query(
    'update item_responses set position = 1 + response_id % 8, is_scored = response_id % 8 > 0',
  )
  const stranger = await app.fixtures.createOrg()
  await insertResponses(app, { orgId: stranger.orgId, itemId, skillNumber: 2020, count: 3 })
  const lines = (await owner.get(`/orgs/${orgId}/live/export/responses.csv`)).body.trim().split('\r\n')
  assert.equal(
    lines[0].replace('\ufeff', ''),
    'skill_id,item_id,source,option,correct,seconds,language,position,channel,day,scored',
  )
  assert.equal(lines.length, 10_501)
  assert.match(
    lines[1],
    new RegExp(`^sk_2020,${itemId},bank,(key,yes|\\d,no),\\d+(\\.\\d)?,hi,\\d,whatsapp,2026-03-11,(yes|no)$`),
  )
  const rows = lines.slice(1).map((line: string) => line.split(','))
  assert.equal(new Set(rows.map((row: string[]) => row.join())).size > 8, true)
  assert.ok(
    rows.every((row: string[]) => (row[7] === '1') === (row[10] === 'no')),
    'the pilots are marked',
  )
  const positions = rows.map((row: string[]) => Number(row[7]))
  const inStoredOrder = positions.filter(
    (position: number, index: number) => position === (positions[index - 1]! % 8) + 1,
  )
  assert.ok(inStoredOrder.length < rows.length / 4, 'the order does not show which responses were stored together')
  const testLines = (await owner.get(`/orgs/${orgId}/test/export/responses.csv`)).body.trim().split('\r\n')
  assert.equal(testLines.length, 1)
})
