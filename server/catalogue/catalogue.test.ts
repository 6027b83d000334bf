import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setTimeout as pause } from 'node:timers/promises'
import { startApp, type TestApp } from '../../test/support/app.ts'
import { openDatabase } from '../platform/database/database.ts'
import { addSkill, lockCatalogue } from './store.ts'

const request = (name: string, more: object = {}) => ({
  name,
  subNumber: 101,
  source: 'request' as const,
  sourceId: `SR_${name}`,
  ...more,
})

test('the built-in catalogue is there from the first start', async (t) => {
  const { current } = (await startApp(t)).context.catalogue
  const skill = current.named('  brick LAYING')
  assert.equal(skill?.number, 1001)
  assert.equal(current.skill(1001), skill)
  assert.equal(skill.sub, current.subSkill(101))
  assert.equal(skill.sub.master, current.master(1))
  assert.ok(skill.aliases.includes('राजमिस्त्री'))
  assert.equal(current.named('raj mistri'), undefined, 'an alias is not the own name')
  assert.equal(current.skill(999_999), undefined)
  const found = current.index.search('brick laying').skills
  assert.equal(found[0]?.number, 1001)
})

test('skills, sub-skills and master skills are in the order of their numbers and count what is under them', async (t) => {
  const { skills, subSkills, masters } = (await startApp(t)).context.catalogue.current
  for (const list of [skills, subSkills, masters])
    assert.deepEqual(
      list.map(({ number }) => number),
      list.map(({ number }) => number).sort((a, b) => a - b),
    )
  for (const sub of subSkills) assert.equal(sub.skills, skills.filter((skill) => skill.sub === sub).length, sub.name)
  for (const master of masters)
    assert.equal(master.skills, skills.filter((skill) => skill.sub.master === master).length, master.name)
})

test('a skill is added once, and servers take it up', async (t) => {
  const { context, clock } = await startApp(t)
  const before = context.catalogue.current
  const made = await context.db.transaction((tx) => addSkill(tx, clock, request(' Drone  piloting ')))
  assert.deepEqual(made, { number: 1_000_000, added: true })
  await until(context, (current) => current.version > before.version)
  const { current } = context.catalogue
  assert.equal(current.named('drone piloting')?.number, 1_000_000)
  assert.equal(current.skill(1_000_000)?.name, 'Drone piloting')
  assert.equal(current.subSkill(101)!.skills, before.subSkill(101)!.skills + 1)
  assert.equal(before.skill(1_000_000), undefined, 'what a request holds does not change under it')

  const again = request('DRONE PILOTING', { sourceId: 'SR_2', verifiable: true })
  assert.deepEqual(await context.db.transaction((tx) => addSkill(tx, clock, again)), {
    number: 1_000_000,
    added: false,
  })
  await context.catalogue.refresh()
  assert.equal(context.catalogue.current.skill(1_000_000)?.verifiable, true)
})

test('a skill needs a sub-skill that exists', async (t) => {
  const { context, clock } = await startApp(t)
  const adding = context.db.transaction((tx) => addSkill(tx, clock, request('Drone piloting', { subNumber: 99 })))
  await assert.rejects(adding, /There is no sub-skill ss_99/)
})

test('of writers at the same time, one adds the skill and the others find it', async (t) => {
  const { context, clock } = await startApp(t)
  const made = await Promise.all(
    Array.from({ length: 10 }, (_, i) =>
      context.db.transaction((tx) => addSkill(tx, clock, request('Drone piloting', { sourceId: `SR_${i}` }))),
    ),
  )
  assert.deepEqual(new Set(made.map(({ number }) => number)).size, 1)
  assert.equal(made.filter(({ added }) => added).length, 1)
})

test('what is rolled back is not taken up', async (t) => {
  const { context, clock } = await startApp(t)
  const { version } = context.catalogue.current
  await context.db
    .transaction(async (tx) => {
      await addSkill(tx, clock, request('Drone piloting'))
      throw new Error('no')
    })
    .catch(() => {})
  await context.catalogue.refresh()
  assert.equal(context.catalogue.current.version, version)
  assert.equal(context.catalogue.current.named('Drone piloting'), undefined)
})

test('refresh resolves when what was committed before is there, also while another one runs', async (t) => {
  const { context, clock } = await startApp(t)
  const { db, catalogue } = context
  for (const name of ['Drone piloting', 'Kite making', 'Well digging']) {
    const running = catalogue.refresh()
    await db.transaction((tx) => addSkill(tx, clock, request(name)))
    await catalogue.refresh()
    assert.ok(catalogue.current.named(name), name)
    await running
  }
})

test('a change by another process is taken up', async (t) => {
  const { context, clock } = await startApp(t)
  const other = openDatabase({
    connection: { connectionString: context.config.databaseUrl! },
    name: 'another process',
    onError: () => {},
  })
  try {
    await other.transaction(async (tx) => {
      await lockCatalogue(tx)
      await addSkill(tx, clock, request('Drone piloting'))
    })
    await until(context, (current) => current.named('Drone piloting') !== undefined)
  } finally {
    await other.close()
  }
})

test('a skill is known by id and name before the catalogue that holds it is taken up', async (t) => {
  const { context, fetch } = await startApp(t)
  const { db, catalogue } = context
  // Nobody announces this one, as if taking it up took very long.
  const row = {
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
  await db.queries.insertInto('skills').values(row).execute()
  const { data } = (await fetch('/api/skills/sk_1000007')).body
  assert.deepEqual([data.skill_name, data.sub_skill_id, data.master_skill_id], ['Drone piloting', 'ss_101', 'ms_1'])
  const body = { user_id: 'u1', skill_id: 'sk_1000007', sub_skill_id: 'ss_101', master_skill_id: 'ms_1' }
  const headers = { 'content-type': 'application/json' }
  const selected = await fetch('/api/selected-skills', { method: 'POST', headers, body: JSON.stringify(body) })
  assert.equal(selected.status, 201)
  assert.equal(catalogue.current.named('DRONE piloting')?.number, 1_000_007)

  await db.transaction((tx) => addSkill(tx, context.clock, request('Kite making')))
  await catalogue.refresh()
  assert.ok(catalogue.current.skills.some(({ number }) => number === 1_000_007))
  await catalogue.learn({ numbers: [1_000_008, 3_000_000_000, undefined], names: ['nobody \0', '\ud800', ''] })
  assert.equal(catalogue.current.skill(1_000_008), undefined)
})

async function until({ catalogue }: TestApp['context'], holds: (current: typeof catalogue.current) => boolean) {
  for (let tries = 0; !holds(catalogue.current); tries++) {
    assert.ok(tries < 1000, 'the change was not taken up in time')
    await pause(10)
  }
}
