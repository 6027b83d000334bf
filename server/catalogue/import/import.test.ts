import assert from 'node:assert/strict'
import { test } from 'node:test'
import { startApp } from '../../../test/support/app.ts'
import { until } from '../../../test/support/until.ts'
import { openDatabase } from '../../platform/database/database.ts'
import type { Source, Taxonomy, TaxonomySkill } from '../taxonomy.ts'
import { importTaxonomy } from './import.ts'

interface SkillFixture extends Partial<TaxonomySkill> {
  id: string
  name: string
}

/** Returns a taxonomy with one sub-skill by default. */
function createTaxonomy(source: Source, skills: SkillFixture[], overrides: Partial<Taxonomy> = {}): Taxonomy {
  return {
    source,
    masters: [{ id: 'm', name: 'Crafts' }],
    subSkills: [{ id: 's', name: 'Paper craft', master: 'm' }],
    rejected: [],
    skills: skills.map((skill, i) => ({
      description: '',
      aliases: [],
      subSkill: 's',
      verifiable: false,
      location: `file:${i + 2}`,
      ...skill,
    })),
    ...overrides,
  }
}

/** Returns the numbers of added, changed, merged, unchanged and rejected rows. */
const summaryCounts = ({ added, changed, merged, unchanged, refused }: Awaited<ReturnType<typeof importTaxonomy>>) => [
  added,
  changed,
  merged,
  unchanged,
  refused.length,
]

async function startCatalogue(t: Parameters<typeof startApp>[0]) {
  const { context, clock } = await startApp(t)
  const { db, catalogue } = context
  return {
    context,
    db,
    catalogue,
    importAndRefresh: async (input: Taxonomy, options = {}) => {
      const summary = await importTaxonomy(db, clock, input, options)
      await catalogue.refresh()
      return summary
    },
  }
}

test('rejected rows are reported in the order of the file', async (t) => {
  const { importAndRefresh } = await startCatalogue(t)
  const manyAliases = Array.from({ length: 201 }, (_, i) => `kite ${i}`)
  const input = createTaxonomy('csv', [
    { id: 'k1', name: 'Kite making', aliases: manyAliases, location: 'a.csv:12' },
    { id: 'k2', name: '!!!', location: 'a.csv:3' },
    { id: 'k'.repeat(501), name: 'Kite flying', location: 'a.csv:4' },
    { id: 'k4', name: 'Kite mending', aliases: manyAliases.slice(1), location: 'a.csv:5' },
    { id: 'k5', name: 'Kite art', subSkill: 'other', location: 'a.csv:9' },
  ])
  input.subSkills.push({ id: 'other', name: 'ss_101', number: 101, expectedMaster: 'Crafts' })
  const { added, refused } = await importAndRefresh(input)
  assert.equal(added, 1)
  assert.deepEqual(
    refused.map(({ at, reason }) => `${at} ${reason}`),
    [
      'a.csv:3 the name contains no letters or digits',
      'a.csv:4 the ID is longer than 500 characters',
      'a.csv:9 ss_101 belongs to Construction and masonry, not to Crafts',
      'a.csv:12 it has 201 aliases; the maximum is 200',
    ],
  )
})

test('rows are added with new numbers, and importing them again changes nothing', async (t) => {
  const { importAndRefresh, catalogue } = await startCatalogue(t)
  const { version } = catalogue.current
  const input = createTaxonomy('esco', [
    {
      id: 'u:1',
      name: ' kite  making',
      description: 'Makes\nkites.',
      aliases: ['patang', 'Patang', '', 'kite making'],
    },
    { id: 'u:2', name: 'lantern making' },
  ])
  const firstSummary = await importAndRefresh(input)
  assert.deepEqual(summaryCounts(firstSummary), [2, 0, 0, 0, 0])
  assert.equal(firstSummary.version, version + 1)
  const kite = catalogue.current.skillByName('Kite making')!
  assert.deepEqual(
    [kite.number, kite.name, kite.description, kite.aliases, kite.verifiable],
    [1_000_000, 'kite making', 'Makes kites.', ['patang'], false],
  )
  assert.deepEqual([kite.sub.number, kite.sub.name, kite.sub.skillCount], [100_000, 'Paper craft', 2])
  assert.deepEqual([kite.sub.master.number, kite.sub.master.name], [1000, 'Crafts'])

  const secondSummary = await importAndRefresh(input)
  assert.deepEqual(summaryCounts(secondSummary), [0, 0, 0, 2, 0])
  assert.equal(secondSummary.version, version + 1)
})

test('a dry run returns the same counts and writes nothing', async (t) => {
  const { importAndRefresh, catalogue } = await startCatalogue(t)
  const { version } = catalogue.current
  const input = createTaxonomy('esco', [
    { id: 'u:1', name: 'kite making' },
    { id: 'u:2', name: 'BRICK laying' },
    { id: '', name: 'no id' },
  ])
  assert.deepEqual(summaryCounts(await importAndRefresh(input, { dryRun: true })), [1, 0, 1, 0, 1])
  assert.equal(catalogue.current.version, version)
  assert.deepEqual(summaryCounts(await importAndRefresh(input)), [1, 0, 1, 0, 1])
})

test('a row with the name of an existing skill is merged into it, whatever its source', async (t) => {
  const { importAndRefresh, catalogue } = await startCatalogue(t)
  const bricklayingBefore = catalogue.current.skill(1001)!
  const esco = createTaxonomy('esco', [
    { id: 'u:1', name: 'BRICK laying', description: 'Other.', aliases: ['wall building', 'mason'] },
  ])
  const onet = createTaxonomy('onet', [{ id: 'o:1', name: 'bricklaying', aliases: ['wall making'] }])
  assert.deepEqual(summaryCounts(await importAndRefresh(onet)), [0, 0, 1, 0, 0])
  assert.deepEqual(summaryCounts(await importAndRefresh(esco)), [0, 0, 1, 0, 0])
  const bricklayingAfter = catalogue.current.skill(1001)!
  assert.deepEqual(bricklayingAfter.aliases, [
    ...bricklayingBefore.aliases,
    'wall building',
    'BRICK laying',
    'wall making',
  ])
  assert.deepEqual(
    [bricklayingAfter.name, bricklayingAfter.description, bricklayingAfter.verifiable],
    [bricklayingBefore.name, bricklayingBefore.description, bricklayingBefore.verifiable],
  )
  assert.equal(bricklayingAfter.sub.number, 101)
  assert.equal(catalogue.current.skills.filter(({ number }) => number >= 1_000_000).length, 0)
  assert.equal(
    catalogue.current.masters.some(({ name }) => name === 'Crafts'),
    false,
    'no group is created without a skill',
  )
  const { version } = catalogue.current
  for (const input of [esco, onet, esco])
    assert.deepEqual(summaryCounts(await importAndRefresh(input)), [0, 0, 0, 1, 0])
  assert.equal(catalogue.current.version, version)
})

test('rows of one source with the same name become one skill with both IDs', async (t) => {
  const { importAndRefresh, catalogue } = await startCatalogue(t)
  const input = createTaxonomy('esco', [
    { id: 'u:1', name: 'kite making', aliases: ['a'] },
    { id: 'u:2', name: 'Kite Making', aliases: ['b'] },
  ])
  assert.deepEqual(summaryCounts(await importAndRefresh(input)), [1, 0, 1, 0, 0])
  assert.deepEqual(catalogue.current.skillByName('kite making')!.aliases, ['a', 'b'])
  assert.deepEqual(summaryCounts(await importAndRefresh(input)), [0, 0, 0, 2, 0])
})

test('a later edition updates the skills that it owns and keeps their numbers', async (t) => {
  const { importAndRefresh, catalogue } = await startCatalogue(t)
  await importAndRefresh(
    createTaxonomy('esco', [
      { id: 'u:1', name: 'kite making', aliases: ['a', 'b'] },
      { id: 'u:2', name: 'lanterns' },
    ]),
  )
  await importAndRefresh(createTaxonomy('onet', [{ id: 'o:1', name: 'kite making', aliases: ['c'] }]))
  const { version } = catalogue.current
  const laterEdition = createTaxonomy(
    'esco',
    [{ id: 'u:1', name: 'kite building', description: 'Builds.', aliases: ['b'], subSkill: 'silk' }],
    {
      masters: [{ id: 'm', name: 'Handicraft' }],
      subSkills: [
        { id: 's', name: 'Paper', master: 'm' },
        { id: 'silk', name: 'Silk craft', master: 'm' },
      ],
    },
  )
  assert.deepEqual(summaryCounts(await importAndRefresh(laterEdition)), [0, 1, 0, 0, 0])
  assert.equal(catalogue.current.version, version + 1)
  const kite = catalogue.current.skill(1_000_000)!
  assert.deepEqual(
    [kite.name, kite.description, kite.aliases],
    ['kite building', 'Builds.', ['b', 'c', 'kite making', 'a']],
    'the name in the other source becomes an alias, and the dropped label stays',
  )
  assert.deepEqual([kite.sub.name, kite.sub.master.name], ['Silk craft', 'Handicraft'])
  assert.equal(catalogue.current.skillByName('kite making'), undefined)
  assert.equal(
    catalogue.current.skillByName('lanterns')?.sub.name,
    'Paper',
    'a skill that the later edition leaves out stays',
  )
  assert.deepEqual(summaryCounts(await importAndRefresh(laterEdition)), [0, 0, 0, 1, 0])
})

test('a name can move to an older or a newer skill', async (t) => {
  const { importAndRefresh, catalogue } = await startCatalogue(t)
  const rowsNamed = (...names: string[]) => names.map((name, i) => ({ id: `u:${i}`, name }))
  await importAndRefresh(createTaxonomy('esco', rowsNamed('kites', 'lanterns', 'masks', 'dolls')))
  const [kites, lanterns, masks, dolls] = rowsNamed('lanterns', 'paper lanterns', 'paper masks', 'masks')
  const editionWithMovedNames = createTaxonomy('esco', [lanterns!, kites!, masks!, dolls!])
  assert.deepEqual(summaryCounts(await importAndRefresh(editionWithMovedNames)), [0, 4, 0, 0, 0])
  assert.equal(catalogue.current.skillByName('lanterns')?.number, 1_000_000)
  assert.equal(catalogue.current.skillByName('masks')?.number, 1_000_003)
  const editionWithNewNameTwice = createTaxonomy('esco', [
    { id: 'u:0', name: 'paper kites' },
    { id: 'u:9', name: 'paper kites' },
  ])
  assert.deepEqual(summaryCounts(await importAndRefresh(editionWithNewNameTwice)), [0, 1, 1, 0, 0])
  const editionWithUsedName = createTaxonomy('esco', [{ id: 'u:1', name: 'Bricklaying' }])
  const { refused } = await importAndRefresh(editionWithUsedName)
  assert.match(refused[0]!.reason, /sk_1001 already has this name; the skill keeps its old name, paper lanterns/)
  assert.equal(catalogue.current.skillByName('paper lanterns')?.number, 1_000_001)
})

test('a mark of any source as verifiable is stored, and another source can fill an empty description', async (t) => {
  const { importAndRefresh, catalogue, db } = await startCatalogue(t)
  const unverifiableEdition = createTaxonomy('onet', [{ id: 'o:1', name: 'kite making' }])
  await importAndRefresh(unverifiableEdition)
  await importAndRefresh(
    createTaxonomy('csv', [{ id: 'c:1', name: 'kite making', verifiable: true, description: 'Makes kites.' }]),
  )
  assert.deepEqual(summaryCounts(await importAndRefresh(unverifiableEdition)), [0, 0, 0, 1, 0])
  const { number, verifiable, description } = catalogue.current.skillByName('kite making')!
  const stored = await db.queries.selectFrom('skills').select('verifiable').where('number', '=', number).execute()
  assert.deepEqual([description, stored], ['Makes kites.', [{ verifiable: true }]])
  assert.equal(verifiable, false, 'there are no questions about it')
})

test('CSV rows are assigned to existing sub-skills by name and by ID', async (t) => {
  const { importAndRefresh, catalogue } = await startCatalogue(t)
  const existingSubSkill = catalogue.current.subSkill(101)!
  const input = createTaxonomy(
    'csv',
    [
      { id: '1', name: 'brick art', subSkill: 'named' },
      { id: '2', name: 'brick poetry', subSkill: 'new' },
      { id: '3', name: 'brick music', subSkill: 'numbered' },
      { id: '4', name: 'brick dance', subSkill: 'absent' },
    ],
    {
      masters: [{ id: 'c', name: existingSubSkill.master.name.toUpperCase() }],
      subSkills: [
        { id: 'named', name: existingSubSkill.name.toLowerCase(), master: 'c' },
        { id: 'new', name: 'Brick arts', master: 'c' },
        { id: 'numbered', name: 'ss_102', number: 102 },
        { id: 'absent', name: 'ss_99', number: 99 },
      ],
    },
  )
  const { refused } = await importAndRefresh(input)
  assert.deepEqual(
    refused.map(({ row, reason }) => `${row}: ${reason}`),
    ['brick dance: sub-skill ss_99 not found'],
  )
  const { current } = catalogue
  assert.equal(current.skillByName('brick art')?.sub.number, 101)
  assert.equal(current.subSkill(101)!.name, existingSubSkill.name, 'the sub-skill keeps its spelling')
  assert.deepEqual(
    [current.skillByName('brick poetry')?.sub.number, current.skillByName('brick poetry')?.sub.master.number],
    [100_000, 1],
  )
  assert.equal(current.skillByName('brick music')?.sub.number, 102)
  assert.deepEqual(summaryCounts(await importAndRefresh(input)), [0, 0, 0, 3, 1])
})

test('invalid rows are rejected with a reason', async (t) => {
  const { importAndRefresh } = await startCatalogue(t)
  const rows: [SkillFixture, RegExp][] = [
    [{ id: '', name: 'x' }, /ID is missing/],
    [{ id: '2', name: ' \n' }, /name is missing/],
    [{ id: '3', name: 'x'.repeat(201) }, /longer than 200/],
    [{ id: '4', name: 'four', description: 'x'.repeat(4001) }, /longer than 4000/],
    [{ id: '5', name: 'nul \0' }, /cannot be stored/],
    [{ id: '6', name: 'half \ud800' }, /cannot be stored/],
    [{ id: '7', name: 'nowhere', subSkill: 'unknown' }, /sub-skill was not found/],
    [{ id: '8', name: 'x'.repeat(200), description: '😀'.repeat(4000) }, /^$/],
    [{ id: '8', name: 'the same id' }, /duplicate ID 8, first used at file:9/],
  ]
  const { refused, added } = await importAndRefresh(
    createTaxonomy(
      'esco',
      rows.map(([row]) => row),
    ),
  )
  assert.equal(added, 1)
  const rejectedRows = rows.filter(([, reason]) => reason.source !== '^$')
  assert.equal(refused.length, rejectedRows.length)
  for (const [i, [, reason]] of rejectedRows.entries()) assert.match(refused[i]!.reason, reason)
})

test('a failed import leaves no changes', async (t) => {
  const { importAndRefresh, context, catalogue } = await startCatalogue(t)
  const { version } = catalogue.current
  const manySkills = Array.from({ length: 2500 }, (_, i) => ({ id: `u:${i}`, name: `made up skill ${i}` }))
  const failingImport = importAndRefresh(createTaxonomy('esco', manySkills), {
    progress(written: number) {
      if (written > 2000) throw new Error('simulated crash')
    },
  })
  await assert.rejects(failingImport, /simulated crash/)
  const { rows } = await context.db.pool.query(`select
    (select count(*)::int from skills where number >= 1000000) as skills,
    (select count(*)::int from sub_skills where source = 'esco') as "subSkills",
    (select count(*)::int from skill_sources where source = 'esco') as sources`)
  assert.deepEqual(rows[0], { skills: 0, subSkills: 0, sources: 0 })
  await catalogue.refresh()
  assert.equal(catalogue.current.version, version)
})

test('a running server loads an import of another process while it serves requests', async (t) => {
  const { context, catalogue } = await startCatalogue(t)
  const skillCountBefore = catalogue.current.skills.length
  const otherDatabase = openDatabase({
    connection: { connectionString: context.config.databaseUrl! },
    name: 'another process',
    onError: () => {},
  })
  try {
    const manySkills = Array.from({ length: 5000 }, (_, i) => ({
      id: `u:${i}`,
      name: `made up skill ${i}`,
      aliases: [`alias ${i}`],
    }))
    const { version } = await importTaxonomy(otherDatabase, context.clock, createTaxonomy('esco', manySkills))
    let searchCount = 0
    await until(() => {
      searchCount++
      assert.equal(catalogue.current.index.search('bricklaying').skills[0]?.number, 1001)
      return catalogue.current.version === version
    })
    assert.ok(searchCount > 1, 'searches succeeded while the index was built')
    assert.equal(catalogue.current.skills.length, skillCountBefore + 5000)
    assert.equal(catalogue.current.index.search('alias 4321').skills[0]?.name, 'made up skill 4321')
  } finally {
    await otherDatabase.close()
  }
})
