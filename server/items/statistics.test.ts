import assert from 'node:assert/strict'
import { test } from 'node:test'
import { startApp, type TestApp } from '../../test/support/app.ts'
import { oncePerFile } from '../../test/support/cleanup.ts'
import { insertOwnItems, insertResponses } from '../../test/support/item-responses.ts'
import { DAY } from '../platform/clock.ts'
import { indianDate } from '../platform/india-time.ts'
import { loadBank } from '../questions/bank/bank.ts'
import { deleteOldTestResponses } from './responses.ts'
import type { StoredStatistics } from './statistics.ts'
import { updateItemStatistics } from './statistics-job.ts'

const startSharedApp = oncePerFile((t) => startApp(t))

/** A skill that the mandates of the tests verify. */
const SKILL = 2001

async function bankItemIds(skillNumber: number): Promise<string[]> {
  return (await loadBank()).itemsOf(skillNumber).map(({ id }) => id)
}

async function readBankItem({ context }: TestApp, itemId: string) {
  return context.db.queries.selectFrom('bank_items').selectAll().where('item_id', '=', itemId).executeTakeFirst()
}

async function readOwnItem({ context }: TestApp, itemId: string) {
  return context.db.queries
    .selectFrom('skill_items')
    .selectAll()
    .where('item_id', '=', itemId)
    .executeTakeFirstOrThrow()
}

async function listRetirements(app: TestApp, key: Awaited<ReturnType<TestApp['fixtures']['createOrg']>>['key']) {
  const { body } = await app.as(key).get('/events?acknowledged=all&limit=100')
  return (body.data.items as { type: string; data: object }[])
    .filter(({ type }) => type === 'mandate.question_retired')
    .map(({ data }) => data)
}

test('the statistics of items with new LIVE responses are stored; TEST responses do not count', async () => {
  const app = await startSharedApp()
  const { orgId } = await app.fixtures.createOrg()
  const [itemId, testItemId] = (await bankItemIds(2005)) as [string, string]
  await insertResponses(app, { orgId, itemId, skillNumber: 2005, count: 120 })
  await insertResponses(app, { orgId, itemId, skillNumber: 2005, count: 40, language: 'hi' })
  await insertResponses(app, { orgId, itemId: testItemId, skillNumber: 2005, count: 50, mode: 'test' })
  const { numUpdatedRows } = await app.context.db.queries
    .updateTable('item_responses')
    .set({ option: null })
    .where('item_id', '=', itemId)
    .where('option', '=', 2)
    .executeTakeFirstOrThrow()
  await updateItemStatistics(app.context)
  const row = (await readBankItem(app, itemId))!
  const statistics = row.statistics as unknown as StoredStatistics
  assert.equal(statistics.responses, 160)
  assert.ok(statistics.correct_share > 0.4 && statistics.correct_share < 0.8)
  assert.ok(statistics.discrimination > 0.2)
  assert.equal(row.status, 'active')
  assert.equal(row.difficulty, statistics.estimated_difficulty)
  assert.deepEqual(
    statistics.ability_groups.map(({ responses }) => responses),
    [32, 32, 32, 32, 32],
  )
  assert.equal(
    statistics.options.reduce((sum, { responses }) => sum + responses, 0),
    160,
  )
  assert.deepEqual(new Set(statistics.options.map(({ option }) => option)), new Set([-1, 0, 1, null]))
  assert.equal(statistics.options.find(({ option }) => option === null)?.responses, Number(numUpdatedRows))
  const hindi = statistics.languages.find(({ language }) => language === 'hi')!
  assert.ok(Math.abs(hindi.difference!) < 3 * hindi.standard_error!)
  assert.equal(statistics.trend.length, 8)
  assert.equal(await readBankItem(app, testItemId), undefined)
})

test('a miskeyed item is retired once, with an event for each mandate that asks it', async () => {
  const app = await startSharedApp()
  const { orgId, key } = await app.fixtures.createOrg()
  const other = await app.fixtures.createOrg()
  const { mandate_id } = await app.fixtures.createMandate({ orgId, mode: 'live' })
  await app.fixtures.createMandate({ orgId, mode: 'live' }, { skills: [{ skill_id: 'sk_2005', verify: true }] })
  const { mandate_id: otherMandateId } = await app.fixtures.createMandate({ orgId: other.orgId, mode: 'live' })
  const archived = await app.fixtures.createMandate({ orgId, mode: 'live' })
  assert.equal((await app.as(key).delete(`/mandates/${archived.mandate_id}`)).status, 200)
  const [itemId] = (await bankItemIds(SKILL)) as [string]
  await insertResponses(app, { orgId, itemId, skillNumber: SKILL, count: 150, pattern: 'miskeyed' })
  await updateItemStatistics(app.context)
  const row = (await readBankItem(app, itemId))!
  assert.deepEqual([row.status, row.retirement_reason], ['retired', 'miskeyed'])
  const expected = { skill_id: 'sk_2001', item_id: itemId, reason: 'miskeyed' }
  assert.deepEqual(await listRetirements(app, key), [{ mandate_id, ...expected }])
  assert.deepEqual(await listRetirements(app, other.key), [{ mandate_id: otherMandateId, ...expected }])

  await insertResponses(app, { orgId, itemId, skillNumber: SKILL, count: 10, pattern: 'miskeyed' })
  await updateItemStatistics(app.context)
  assert.equal((await listRetirements(app, key)).length, 1)
})

test('an item whose key 60 % of the newest people know is retired; one that is easier in another language stays', async () => {
  const app = await startSharedApp()
  const { orgId } = await app.fixtures.createOrg()
  const ids = await bankItemIds(2004)
  const [leakedId, easierId] = [ids[0]!, ids[9]!]
  const respond = (itemId: string, options: object) =>
    insertResponses(app, { orgId, itemId, skillNumber: 2004, count: 250, ...options })
  for (const itemId of [leakedId, easierId]) await respond(itemId, {})
  await updateItemStatistics(app.context)
  assert.equal((await readBankItem(app, leakedId))!.status, 'active')
  await respond(leakedId, { pattern: 'partly_leaked' })
  await respond(easierId, { language: 'hi', difficulty: -1 })
  await updateItemStatistics(app.context)
  const leaked = (await readBankItem(app, leakedId))!
  assert.deepEqual([leaked.status, leaked.retirement_reason], ['retired', 'leaked'])
  assert.equal((await readBankItem(app, easierId))!.status, 'active')
})

test('after a crash, the next run continues, and no event is recorded twice', async () => {
  const app = await startSharedApp()
  const { orgId, key } = await app.fixtures.createOrg()
  const skills = [{ skill_id: 'sk_1001', verify: true }]
  await app.fixtures.createMandate({ orgId, mode: 'live' }, { skills })
  const ids = (await bankItemIds(1001)).slice(0, 2).sort()
  for (const itemId of ids)
    await insertResponses(app, { orgId, itemId, skillNumber: 1001, count: 150, pattern: 'miskeyed' })
  let isCrashed = false
  const { db } = app.context
  const transaction: typeof db.transaction = (work) =>
    db.transaction(async (tx) => {
      const result = await work(tx)
      const row = await tx.selectFrom('bank_items').select('status').where('item_id', '=', ids[1]!).executeTakeFirst()
      if (row?.status === 'retired') {
        isCrashed = true
        throw new Error('crash before the commit')
      }
      return result
    })
  const failing = { ...app.context, db: Object.create(db, { transaction: { value: transaction } }) }
  await assert.rejects(updateItemStatistics(failing), /crash before the commit/)
  assert.ok(isCrashed)
  const listItems = async () => (await listRetirements(app, key)).map((data) => (data as { item_id: string }).item_id)
  assert.deepEqual(await listItems(), [ids[0]])
  for (let run = 0; run < 2; run++) await updateItemStatistics(app.context)
  assert.deepEqual(await listItems(), ids)
})

test('responses to a question that the bank no longer contains do not stop the update of others', async () => {
  const app = await startSharedApp()
  const { orgId } = await app.fixtures.createOrg()
  const itemId = (await bankItemIds(2007))[0]!
  const removedId = '2007.1.1-before'
  for (const each of [removedId, itemId])
    await insertResponses(app, { orgId, itemId: each, skillNumber: 2007, count: 20 })
  await updateItemStatistics(app.context)
  assert.equal(await readBankItem(app, removedId), undefined)
  assert.equal(((await readBankItem(app, itemId))!.statistics as unknown as StoredStatistics).responses, 20)
})

test('items are updated again only if there are new responses', async () => {
  const app = await startSharedApp()
  const { orgId } = await app.fixtures.createOrg()
  const itemId = (await bankItemIds(2020))[0]!
  await insertResponses(app, { orgId, itemId, skillNumber: 2020, count: 20 })
  // Responses of the last run are read once more, because a transaction may have committed late.
  for (let run = 0; run < 2; run++) await updateItemStatistics(app.context)
  app.clock.advance(DAY)
  await updateItemStatistics(app.context)
  const before = (await readBankItem(app, itemId))!
  assert.ok(before.updated_at.getTime() < app.clock.now())
  await insertResponses(app, { orgId, itemId, skillNumber: 2020, count: 1 })
  await updateItemStatistics(app.context)
  const after = (await readBankItem(app, itemId))!
  assert.equal((after.statistics as unknown as StoredStatistics).responses, 21)
})

test('a pilot item becomes active after 30 responses, unless able people answer it wrongly', async () => {
  const app = await startSharedApp()
  const { orgId, key } = await app.fixtures.createOrg()
  const ids = ['IT_PILOTGOOD', 'IT_PILOTNEW', 'IT_PILOTBAD']
  await insertOwnItems(app, { orgId, skillNumber: 2002, ids, status: 'pilot' })
  const respond = (itemId: string, count: number, pattern: 'good' | 'miskeyed') =>
    insertResponses(app, { orgId, itemId, skillNumber: 2002, source: 'private', count, pattern })
  await respond(ids[0]!, 40, 'good')
  await respond(ids[1]!, 29, 'good')
  await respond(ids[2]!, 150, 'miskeyed')
  await updateItemStatistics(app.context)
  const statuses = await Promise.all(ids.map(async (id) => (await readOwnItem(app, id)).status))
  assert.deepEqual(statuses, ['active', 'pilot', 'retired'])
  const { items } = (await app.as(key).get('/items')).body.data
  assert.deepEqual(
    items.map(({ item_id, responses }: { item_id: string; responses: number }) => [item_id, responses]),
    [
      [ids[2], 150],
      [ids[0], 40],
      [ids[1], 29],
    ],
  )
  assert.ok(items[0].proportion_correct < 0.25 && items[0].discrimination < 0)
})

test('a skill with too few active items is no longer verifiable, and the log warns about it', async (t) => {
  const app = await startApp(t)
  const { orgId, key } = await app.fixtures.createOrg()
  const isVerifiable = async () => {
    await app.context.catalogue.refresh()
    return (await app.as(key).get('/skills/sk_2001')).body.data.verifiable
  }
  assert.equal(await isVerifiable(), true)
  const ids = await bankItemIds(SKILL)
  for (const itemId of ids.slice(11))
    await insertResponses(app, { orgId, itemId, skillNumber: SKILL, count: 120, pattern: 'miskeyed' })
  await updateItemStatistics(app.context)
  assert.equal(await isVerifiable(), false)
  assert.ok(app.logLines.some((line) => line.includes('cannot be verified now')))
})

test('TEST responses are deleted after 30 days, LIVE responses are not', async () => {
  const app = await startSharedApp()
  const { orgId } = await app.fixtures.createOrg()
  const now = app.clock.now()
  for (const mode of ['test', 'live'] as const)
    for (const age of [29, 32])
      await insertResponses(app, {
        orgId,
        itemId: 'IT_OLD',
        skillNumber: 2003,
        source: 'private',
        count: 1,
        mode,
        day: indianDate(now - age * DAY),
      })
  await app.context.db.transaction((tx) => deleteOldTestResponses(tx, now))
  const rows = await app.context.db.queries
    .selectFrom('item_responses')
    .select('mode')
    .where('org_id', '=', orgId)
    .orderBy('mode')
    .execute()
  assert.deepEqual(
    rows.map(({ mode }) => mode),
    ['live', 'live', 'test'],
  )
})
