import assert from 'node:assert/strict'
import { test } from 'node:test'
import { startApp } from '../../test/support/app.ts'
import { until } from '../../test/support/until.ts'
import { openDatabase } from '../platform/database/database.ts'
import { loadBank } from '../questions/bank/bank.ts'
import { MIN_ACTIVE_ITEMS } from '../questions/skill-items.ts'
import { addSkill, lockCatalogue } from './store.ts'

const newSkill = (name: string, overrides: object = {}) => ({
  name,
  subNumber: 101,
  source: 'request' as const,
  sourceId: `SR_${name}`,
  ...overrides,
})

test('the built-in catalogue is available from the first start', async (t) => {
  const { current } = (await startApp(t)).context.catalogue
  const skill = current.skillByName('  brick LAYING')
  assert.equal(skill?.number, 1001)
  assert.equal(current.skill(1001), skill)
  assert.equal(skill.sub, current.subSkill(101))
  assert.equal(skill.sub.master, current.master(1))
  assert.ok(skill.aliases.includes('राजमिस्त्री'))
  assert.equal(current.skillByName('raj mistri'), undefined, 'an alias is not a name')
  assert.equal(current.skill(999_999), undefined)
  const foundSkills = current.index.search('brick laying').skills
  assert.equal(foundSkills[0]?.number, 1001)
})

test('skills and groups are sorted by number, and groups have the right number of skills', async (t) => {
  const { skills, subSkills, masters } = (await startApp(t)).context.catalogue.current
  for (const list of [skills, subSkills, masters])
    assert.deepEqual(
      list.map(({ number }) => number),
      list.map(({ number }) => number).sort((a, b) => a - b),
    )
  for (const sub of subSkills)
    assert.equal(sub.skillCount, skills.filter((skill) => skill.sub === sub).length, sub.name)
  for (const master of masters)
    assert.equal(master.skillCount, skills.filter((skill) => skill.sub.master === master).length, master.name)
})

test('a skill is added once, and servers load it', async (t) => {
  const { context, clock } = await startApp(t)
  const snapshotBefore = context.catalogue.current
  const addedSkill = await context.db.transaction((tx) => addSkill(tx, clock, newSkill(' Drone  piloting ')))
  assert.deepEqual(addedSkill, { number: 1_000_000, added: true })
  await until(() => context.catalogue.current.version > snapshotBefore.version)
  const { current } = context.catalogue
  assert.equal(current.skillByName('drone piloting')?.number, 1_000_000)
  assert.equal(current.skill(1_000_000)?.name, 'Drone piloting')
  assert.equal(current.subSkill(101)!.skillCount, snapshotBefore.subSkill(101)!.skillCount + 1)
  assert.equal(snapshotBefore.skill(1_000_000), undefined, 'an older snapshot does not change')

  const sameSkill = newSkill('DRONE PILOTING', { sourceId: 'SR_2', verifiable: true })
  assert.deepEqual(await context.db.transaction((tx) => addSkill(tx, clock, sameSkill)), {
    number: 1_000_000,
    added: false,
  })
  await context.catalogue.refresh()
  assert.equal(context.catalogue.current.skill(1_000_000)?.verifiable, false, 'there are no questions about it')
})

test('a skill is verifiable if it has enough active questions', async (t) => {
  const { context, clock } = await startApp(t)
  const { db, catalogue } = context
  const bank = await loadBank()
  assert.deepEqual(
    catalogue.current.skills.filter(({ verifiable }) => verifiable).map(({ number }) => number),
    bank.skillNumbers.toSorted((first, second) => first - second),
  )
  const items = bank.itemsOf(2028)
  const retire = async (retiredItems: typeof items) => {
    const rows = retiredItems.map(({ id }) => ({
      item_id: id,
      skill_number: 2028,
      status: 'retired',
      updated_at: new Date(clock.now()),
    }))
    await db.queries.insertInto('bank_items').values(rows).execute()
    // Any change of the catalogue reloads it.
    await db.transaction((tx) => addSkill(tx, clock, newSkill(`Skill with ${rows.length} retired items`)))
    await catalogue.refresh()
  }
  await retire(items.slice(MIN_ACTIVE_ITEMS))
  assert.equal(catalogue.current.skill(2028)!.verifiable, true)
  await retire(items.slice(0, 1))
  assert.equal(catalogue.current.skill(2028)!.verifiable, false)
})

test('with an AI writer, every skill is verifiable', async (t) => {
  const { context } = await startApp(t, {
    config: { ai: { baseUrl: 'http://127.0.0.1:9', apiKey: undefined, model: 'any' } },
  })
  assert.ok(context.catalogue.current.skills.every(({ verifiable }) => verifiable))
})

test('a skill cannot be added to a missing sub-skill', async (t) => {
  const { context, clock } = await startApp(t)
  const adding = context.db.transaction((tx) => addSkill(tx, clock, newSkill('Drone piloting', { subNumber: 99 })))
  await assert.rejects(adding, /Sub-skill ss_99 not found/)
})

test('one of several concurrent writers adds the skill, and the others find it', async (t) => {
  const { context, clock } = await startApp(t)
  const results = await Promise.all(
    Array.from({ length: 10 }, (_, i) =>
      context.db.transaction((tx) => addSkill(tx, clock, newSkill('Drone piloting', { sourceId: `SR_${i}` }))),
    ),
  )
  assert.deepEqual(new Set(results.map(({ number }) => number)).size, 1)
  assert.equal(results.filter(({ added }) => added).length, 1)
})

test('a rolled-back change is not loaded', async (t) => {
  const { context, clock } = await startApp(t)
  const { version } = context.catalogue.current
  await context.db
    .transaction(async (tx) => {
      await addSkill(tx, clock, newSkill('Drone piloting'))
      throw new Error('rolled back')
    })
    .catch(() => {})
  await context.catalogue.refresh()
  assert.equal(context.catalogue.current.version, version)
  assert.equal(context.catalogue.current.skillByName('Drone piloting'), undefined)
})

test('refresh resolves after earlier commits are loaded, also while another refresh runs', async (t) => {
  const { context, clock } = await startApp(t)
  const { db, catalogue } = context
  for (const name of ['Drone piloting', 'Kite making', 'Well digging']) {
    const earlierRefresh = catalogue.refresh()
    await db.transaction((tx) => addSkill(tx, clock, newSkill(name)))
    await catalogue.refresh()
    assert.ok(catalogue.current.skillByName(name), name)
    await earlierRefresh
  }
})

test('a change by another process is loaded', async (t) => {
  const { context, clock } = await startApp(t)
  const otherDatabase = openDatabase({
    connection: { connectionString: context.config.databaseUrl! },
    name: 'another process',
    onError: () => {},
  })
  try {
    await otherDatabase.transaction(async (tx) => {
      await lockCatalogue(tx)
      await addSkill(tx, clock, newSkill('Drone piloting'))
    })
    await until(() => context.catalogue.current.skillByName('Drone piloting') !== undefined)
  } finally {
    await otherDatabase.close()
  }
})

test('a skill can be found by ID and name before the catalogue is reloaded', async (t) => {
  const { context, fetch } = await startApp(t)
  const { db, catalogue } = context
  // Inserts the skill without a notification, so that the catalogue is not reloaded.
  const skillRow = {
    number: 1_000_007,
    sub_number: 101,
    name: 'Drone piloting',
    name_key: 'dronepiloting',
    description: 'Flies.',
    aliases: ['UAV pilot'],
    verifiable: true,
    created_at: new Date(),
    updated_at: new Date(),
  }
  await db.queries.insertInto('skills').values(skillRow).execute()
  const { data } = (await fetch('/api/skills/sk_1000007')).body
  assert.deepEqual([data.skill_name, data.sub_skill_id, data.master_skill_id], ['Drone piloting', 'ss_101', 'ms_1'])
  const selectionBody = { user_id: 'u1', skill_id: 'sk_1000007', sub_skill_id: 'ss_101', master_skill_id: 'ms_1' }
  const headers = { 'content-type': 'application/json' }
  const selection = await fetch('/api/selected-skills', {
    method: 'POST',
    headers,
    body: JSON.stringify(selectionBody),
  })
  assert.equal(selection.status, 201)
  assert.equal(catalogue.current.skillByName('DRONE piloting')?.number, 1_000_007)

  await db.transaction((tx) => addSkill(tx, context.clock, newSkill('Kite making')))
  await catalogue.refresh()
  assert.ok(catalogue.current.skills.some(({ number }) => number === 1_000_007))
  await catalogue.load({ ids: ['sk_1000008', 'sk_3000000000', 'unknown'], names: ['unknown \0', '\ud800', ''] })
  assert.equal(catalogue.current.skill(1_000_008), undefined)
})
