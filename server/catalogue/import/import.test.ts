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
function taxonomy(source: Source, skills: SkillFixture[], more: Partial<Taxonomy> = {}): Taxonomy {
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
      at: `file:${i + 2}`,
      ...skill,
    })),
    ...more,
  }
}

const counts = ({ added, changed, merged, unchanged, refused }: Awaited<ReturnType<typeof importTaxonomy>>) => [
  added,
  changed,
  merged,
  unchanged,
  refused.length,
]

async function start(t: Parameters<typeof startApp>[0]) {
  const { context, clock } = await startApp(t)
  const { db, catalogue } = context
  return {
    context,
    catalogue,
    importAndRefresh: async (input: Taxonomy, options = {}) => {
      const summary = await importTaxonomy(db, clock, input, options)
      await catalogue.refresh()
      return summary
    },
  }
}

test('unusable rows are rejected in the order of the file', async (t) => {
  const { importAndRefresh } = await start(t)
  const many = Array.from({ length: 201 }, (_, i) => `kite ${i}`)
  const input = taxonomy('csv', [
    { id: 'k1', name: 'Kite making', aliases: many, at: 'a.csv:12' },
    { id: 'k2', name: '!!!', at: 'a.csv:3' },
    { id: 'k'.repeat(501), name: 'Kite flying', at: 'a.csv:4' },
    { id: 'k4', name: 'Kite mending', aliases: many.slice(1), at: 'a.csv:5' },
    { id: 'k5', name: 'Kite art', subSkill: 'other', at: 'a.csv:9' },
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
  const { importAndRefresh, catalogue } = await start(t)
  const { version } = catalogue.current
  const input = taxonomy('esco', [
    {
      id: 'u:1',
      name: ' kite  making',
      description: 'Makes\nkites.',
      aliases: ['patang', 'Patang', '', 'kite making'],
    },
    { id: 'u:2', name: 'lantern making' },
  ])
  const first = await importAndRefresh(input)
  assert.deepEqual(counts(first), [2, 0, 0, 0, 0])
  assert.equal(first.version, version + 1)
  const kite = catalogue.current.named('Kite making')!
  assert.deepEqual(
    [kite.number, kite.name, kite.description, kite.aliases, kite.verifiable],
    [1_000_000, 'kite making', 'Makes kites.', ['patang'], false],
  )
  assert.deepEqual([kite.sub.number, kite.sub.name, kite.sub.skills], [100_000, 'Paper craft', 2])
  assert.deepEqual([kite.sub.master.number, kite.sub.master.name], [1000, 'Crafts'])

  const repeated = await importAndRefresh(input)
  assert.deepEqual(counts(repeated), [0, 0, 0, 2, 0])
  assert.equal(repeated.version, version + 1)
})

test('a dry run returns the same counts and writes nothing', async (t) => {
  const { importAndRefresh, catalogue } = await start(t)
  const { version } = catalogue.current
  const input = taxonomy('esco', [
    { id: 'u:1', name: 'kite making' },
    { id: 'u:2', name: 'BRICK laying' },
    { id: '', name: 'no id' },
  ])
  assert.deepEqual(counts(await importAndRefresh(input, { dryRun: true })), [1, 0, 1, 0, 1])
  assert.equal(catalogue.current.version, version)
  assert.deepEqual(counts(await importAndRefresh(input)), [1, 0, 1, 0, 1])
})

test('a row with the name of an existing skill is merged into it, whatever its source', async (t) => {
  const { importAndRefresh, catalogue } = await start(t)
  const before = catalogue.current.skill(1001)!
  const esco = taxonomy('esco', [
    { id: 'u:1', name: 'BRICK laying', description: 'Other.', aliases: ['wall building', 'mason'] },
  ])
  const onet = taxonomy('onet', [{ id: 'o:1', name: 'bricklaying', aliases: ['wall making'] }])
  assert.deepEqual(counts(await importAndRefresh(onet)), [0, 0, 1, 0, 0])
  assert.deepEqual(counts(await importAndRefresh(esco)), [0, 0, 1, 0, 0])
  const after = catalogue.current.skill(1001)!
  assert.deepEqual(after.aliases, [...before.aliases, 'wall building', 'BRICK laying', 'wall making'])
  assert.deepEqual(
    [after.name, after.description, after.verifiable],
    [before.name, before.description, before.verifiable],
  )
  assert.equal(after.sub.number, 101)
  assert.equal(catalogue.current.skills.filter(({ number }) => number >= 1_000_000).length, 0)
  assert.equal(
    catalogue.current.masters.some(({ name }) => name === 'Crafts'),
    false,
    'no group is created without a skill',
  )
  const { version } = catalogue.current
  for (const input of [esco, onet, esco]) assert.deepEqual(counts(await importAndRefresh(input)), [0, 0, 0, 1, 0])
  assert.equal(catalogue.current.version, version)
})

test('rows of one source with the same name become one skill with both IDs', async (t) => {
  const { importAndRefresh, catalogue } = await start(t)
  const input = taxonomy('esco', [
    { id: 'u:1', name: 'kite making', aliases: ['a'] },
    { id: 'u:2', name: 'Kite Making', aliases: ['b'] },
  ])
  assert.deepEqual(counts(await importAndRefresh(input)), [1, 0, 1, 0, 0])
  assert.deepEqual(catalogue.current.named('kite making')!.aliases, ['a', 'b'])
  assert.deepEqual(counts(await importAndRefresh(input)), [0, 0, 0, 2, 0])
})

test('a later edition updates the skills that it owns and keeps their numbers', async (t) => {
  const { importAndRefresh, catalogue } = await start(t)
  await importAndRefresh(
    taxonomy('esco', [
      { id: 'u:1', name: 'kite making', aliases: ['a', 'b'] },
      { id: 'u:2', name: 'lanterns' },
    ]),
  )
  await importAndRefresh(taxonomy('onet', [{ id: 'o:1', name: 'kite making', aliases: ['c'] }]))
  const { version } = catalogue.current
  const later = taxonomy(
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
  assert.deepEqual(counts(await importAndRefresh(later)), [0, 1, 0, 0, 0])
  assert.equal(catalogue.current.version, version + 1)
  const kite = catalogue.current.skill(1_000_000)!
  assert.deepEqual(
    [kite.name, kite.description, kite.aliases],
    ['kite building', 'Builds.', ['b', 'c', 'kite making']],
    'the name in the other source becomes an alias',
  )
  assert.deepEqual([kite.sub.name, kite.sub.master.name], ['Silk craft', 'Handicraft'])
  assert.equal(catalogue.current.named('kite making'), undefined)
  assert.equal(
    catalogue.current.named('lanterns')?.sub.name,
    'Paper',
    'a skill that the later edition leaves out stays',
  )
  assert.deepEqual(counts(await importAndRefresh(later)), [0, 0, 0, 1, 0])
})

test('a name can move to an older or a newer skill', async (t) => {
  const { importAndRefresh, catalogue } = await start(t)
  const named = (...names: string[]) => names.map((name, i) => ({ id: `u:${i}`, name }))
  await importAndRefresh(taxonomy('esco', named('kites', 'lanterns', 'masks', 'dolls')))
  const [kites, lanterns, masks, dolls] = named('lanterns', 'paper lanterns', 'paper masks', 'masks')
  const moved = taxonomy('esco', [lanterns!, kites!, masks!, dolls!])
  assert.deepEqual(counts(await importAndRefresh(moved)), [0, 4, 0, 0, 0])
  assert.equal(catalogue.current.named('lanterns')?.number, 1_000_000)
  assert.equal(catalogue.current.named('masks')?.number, 1_000_003)
  const conflicting = taxonomy('esco', [{ id: 'u:1', name: 'Bricklaying' }])
  const { refused } = await importAndRefresh(conflicting)
  assert.match(refused[0]!.reason, /sk_1001 already has this name; the skill keeps its old name, paper lanterns/)
  assert.equal(catalogue.current.named('paper lanterns')?.number, 1_000_001)
})

test('a skill is verifiable if one source marks it so, and an empty description is filled', async (t) => {
  const { importAndRefresh, catalogue } = await start(t)
  const plain = taxonomy('onet', [{ id: 'o:1', name: 'kite making' }])
  await importAndRefresh(plain)
  await importAndRefresh(
    taxonomy('csv', [{ id: 'c:1', name: 'kite making', verifiable: true, description: 'Makes kites.' }]),
  )
  assert.deepEqual(counts(await importAndRefresh(plain)), [0, 0, 0, 1, 0])
  const { verifiable, description } = catalogue.current.named('kite making')!
  assert.deepEqual([verifiable, description], [true, 'Makes kites.'])
})

test('CSV rows find sub-skills by name and by number', async (t) => {
  const { importAndRefresh, catalogue } = await start(t)
  const sub = catalogue.current.subSkill(101)!
  const input = taxonomy(
    'csv',
    [
      { id: '1', name: 'brick art', subSkill: 'named' },
      { id: '2', name: 'brick poetry', subSkill: 'new' },
      { id: '3', name: 'brick music', subSkill: 'numbered' },
      { id: '4', name: 'brick dance', subSkill: 'absent' },
    ],
    {
      masters: [{ id: 'c', name: sub.master.name.toUpperCase() }],
      subSkills: [
        { id: 'named', name: sub.name.toLowerCase(), master: 'c' },
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
  assert.equal(current.named('brick art')?.sub.number, 101)
  assert.equal(current.subSkill(101)!.name, sub.name, 'the sub-skill keeps its spelling')
  assert.deepEqual(
    [current.named('brick poetry')?.sub.number, current.named('brick poetry')?.sub.master.number],
    [100_000, 1],
  )
  assert.equal(current.named('brick music')?.sub.number, 102)
  assert.deepEqual(counts(await importAndRefresh(input)), [0, 0, 0, 3, 1])
})

test('invalid rows are rejected with a reason', async (t) => {
  const { importAndRefresh } = await start(t)
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
    taxonomy(
      'esco',
      rows.map(([row]) => row),
    ),
  )
  assert.equal(added, 1)
  const expected = rows.filter(([, reason]) => reason.source !== '^$')
  assert.equal(refused.length, expected.length)
  for (const [i, [, reason]] of expected.entries()) assert.match(refused[i]!.reason, reason)
})

test('a failed import leaves no changes', async (t) => {
  const { importAndRefresh, context, catalogue } = await start(t)
  const { version } = catalogue.current
  const many = Array.from({ length: 2500 }, (_, i) => ({ id: `u:${i}`, name: `made up skill ${i}` }))
  const failing = importAndRefresh(taxonomy('esco', many), {
    progress(written: number) {
      if (written > 2000) throw new Error('simulated crash')
    },
  })
  await assert.rejects(failing, /simulated crash/)
  const { rows } = await context.db.pool.query(`select
    (select count(*)::int from skills where number >= 1000000) as skills,
    (select count(*)::int from sub_skills where source = 'esco') as "subSkills",
    (select count(*)::int from skill_sources where source = 'esco') as sources`)
  assert.deepEqual(rows[0], { skills: 0, subSkills: 0, sources: 0 })
  await catalogue.refresh()
  assert.equal(catalogue.current.version, version)
})

test('a running server loads an import of another process while it serves requests', async (t) => {
  const { context, catalogue } = await start(t)
  const before = catalogue.current.skills.length
  const other = openDatabase({
    connection: { connectionString: context.config.databaseUrl! },
    name: 'another process',
    onError: () => {},
  })
  try {
    const many = Array.from({ length: 5000 }, (_, i) => ({
      id: `u:${i}`,
      name: `made up skill ${i}`,
      aliases: [`alias ${i}`],
    }))
    const { version } = await importTaxonomy(other, context.clock, taxonomy('esco', many))
    let searches = 0
    await until(() => {
      searches++
      assert.equal(catalogue.current.index.search('bricklaying').skills[0]?.number, 1001)
      return catalogue.current.version === version
    })
    assert.ok(searches > 1, 'searches succeeded while the index was built')
    assert.equal(catalogue.current.skills.length, before + 5000)
    assert.equal(catalogue.current.index.search('alias 4321').skills[0]?.name, 'made up skill 4321')
  } finally {
    await other.close()
  }
})
