import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setTimeout as pause } from 'node:timers/promises'
import { startApp } from '../../../test/support/app.ts'
import { openDatabase } from '../../platform/database/database.ts'
import type { Source, Taxonomy, TaxonomySkill } from '../taxonomy.ts'
import { importTaxonomy } from './import.ts'

interface Given extends Partial<TaxonomySkill> {
  id: string
  name: string
}

/** A taxonomy with one place, or those that the skills name. */
function taxonomy(source: Source, skills: Given[], more: Partial<Taxonomy> = {}): Taxonomy {
  return {
    source,
    masters: [{ id: 'm', name: 'Crafts' }],
    subSkills: [{ id: 's', name: 'Paper craft', master: 'm' }],
    refused: [],
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
    take: async (given: Taxonomy, options = {}) => {
      const summary = await importTaxonomy(db, clock, given, options)
      await catalogue.refresh()
      return summary
    },
  }
}

test('rows that nobody could use are refused, in the order of the file', async (t) => {
  const { take } = await start(t)
  const many = Array.from({ length: 201 }, (_, i) => `kite ${i}`)
  const given = taxonomy('csv', [
    { id: 'k1', name: 'Kite making', aliases: many, at: 'a.csv:12' },
    { id: 'k2', name: '!!!', at: 'a.csv:3' },
    { id: 'k'.repeat(501), name: 'Kite flying', at: 'a.csv:4' },
    { id: 'k4', name: 'Kite mending', aliases: many.slice(1), at: 'a.csv:5' },
    { id: 'k5', name: 'Kite art', subSkill: 'other', at: 'a.csv:9' },
  ])
  given.subSkills.push({ id: 'other', name: 'ss_101', number: 101, within: 'Crafts' })
  const { added, refused } = await take(given)
  assert.equal(added, 1)
  assert.deepEqual(
    refused.map(({ at, reason }) => `${at} ${reason}`),
    [
      'a.csv:3 the name has no letter or digit',
      'a.csv:4 the id is longer than 500 characters',
      'a.csv:9 ss_101 stands under Construction and masonry, not under Crafts',
      'a.csv:12 it has 201 aliases; at most 200 are taken',
    ],
  )
})

test('rows are added with numbers of their own, and again change nothing', async (t) => {
  const { take, catalogue } = await start(t)
  const { version } = catalogue.current
  const given = taxonomy('esco', [
    {
      id: 'u:1',
      name: ' kite  making',
      description: 'Makes\nkites.',
      aliases: ['patang', 'Patang', '', 'kite making'],
    },
    { id: 'u:2', name: 'lantern making' },
  ])
  const first = await take(given)
  assert.deepEqual(counts(first), [2, 0, 0, 0, 0])
  assert.equal(first.version, version + 1)
  const kite = catalogue.current.named('Kite making')!
  assert.deepEqual(
    [kite.number, kite.name, kite.description, kite.aliases, kite.verifiable],
    [1_000_000, 'kite making', 'Makes kites.', ['patang'], false],
  )
  assert.deepEqual([kite.sub.number, kite.sub.name, kite.sub.skills], [100_000, 'Paper craft', 2])
  assert.deepEqual([kite.sub.master.number, kite.sub.master.name], [1000, 'Crafts'])

  const again = await take(given)
  assert.deepEqual(counts(again), [0, 0, 0, 2, 0])
  assert.equal(again.version, version + 1)
})

test('a dry run counts the same and writes nothing', async (t) => {
  const { take, catalogue } = await start(t)
  const { version } = catalogue.current
  const given = taxonomy('esco', [
    { id: 'u:1', name: 'kite making' },
    { id: 'u:2', name: 'BRICK laying' },
    { id: '', name: 'no id' },
  ])
  assert.deepEqual(counts(await take(given, { dryRun: true })), [1, 0, 1, 0, 1])
  assert.equal(catalogue.current.version, version)
  assert.deepEqual(counts(await take(given)), [1, 0, 1, 0, 1])
})

test('a row whose name is there joins that skill, whichever source it came from', async (t) => {
  const { take, catalogue } = await start(t)
  const before = catalogue.current.skill(1001)!
  const esco = taxonomy('esco', [
    { id: 'u:1', name: 'BRICK laying', description: 'Other.', aliases: ['wall building', 'mason'] },
  ])
  const onet = taxonomy('onet', [{ id: 'o:1', name: 'bricklaying', aliases: ['wall making'] }])
  assert.deepEqual(counts(await take(onet)), [0, 0, 1, 0, 0])
  assert.deepEqual(counts(await take(esco)), [0, 0, 1, 0, 0])
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
    'no place without a skill',
  )
  const { version } = catalogue.current
  for (const given of [esco, onet, esco]) assert.deepEqual(counts(await take(given)), [0, 0, 0, 1, 0])
  assert.equal(catalogue.current.version, version)
})

test('repeated names within one source become one skill with both ids', async (t) => {
  const { take, catalogue } = await start(t)
  const given = taxonomy('esco', [
    { id: 'u:1', name: 'kite making', aliases: ['a'] },
    { id: 'u:2', name: 'Kite Making', aliases: ['b'] },
  ])
  assert.deepEqual(counts(await take(given)), [1, 0, 1, 0, 0])
  assert.deepEqual(catalogue.current.named('kite making')!.aliases, ['a', 'b'])
  assert.deepEqual(counts(await take(given)), [0, 0, 0, 2, 0])
})

test('a later edition changes what it owns and keeps the number', async (t) => {
  const { take, catalogue } = await start(t)
  await take(
    taxonomy('esco', [
      { id: 'u:1', name: 'kite making', aliases: ['a', 'b'] },
      { id: 'u:2', name: 'lanterns' },
    ]),
  )
  await take(taxonomy('onet', [{ id: 'o:1', name: 'kite making', aliases: ['c'] }]))
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
  assert.deepEqual(counts(await take(later)), [0, 1, 0, 0, 0])
  assert.equal(catalogue.current.version, version + 1)
  const kite = catalogue.current.skill(1_000_000)!
  assert.deepEqual(
    [kite.name, kite.description, kite.aliases],
    ['kite building', 'Builds.', ['b', 'c', 'kite making']],
    'the name that the other source still has stays findable',
  )
  assert.deepEqual([kite.sub.name, kite.sub.master.name], ['Silk craft', 'Handicraft'])
  assert.equal(catalogue.current.named('kite making'), undefined)
  assert.equal(catalogue.current.named('lanterns')?.sub.name, 'Paper', 'what a later edition leaves out stays')
  assert.deepEqual(counts(await take(later)), [0, 0, 0, 1, 0])
})

test('names may move from one skill to another, older or newer', async (t) => {
  const { take, catalogue } = await start(t)
  const names = (...given: string[]) => given.map((name, i) => ({ id: `u:${i}`, name }))
  await take(taxonomy('esco', names('kites', 'lanterns', 'masks', 'dolls')))
  const [kites, lanterns, masks, dolls] = names('lanterns', 'paper lanterns', 'paper masks', 'masks')
  const moved = taxonomy('esco', [lanterns!, kites!, masks!, dolls!])
  assert.deepEqual(counts(await take(moved)), [0, 4, 0, 0, 0])
  assert.equal(catalogue.current.named('lanterns')?.number, 1_000_000)
  assert.equal(catalogue.current.named('masks')?.number, 1_000_003)
  const taken = taxonomy('esco', [{ id: 'u:1', name: 'Bricklaying' }])
  const { refused } = await take(taken)
  assert.match(refused[0]!.reason, /sk_1001 has this name; the skill keeps the name paper lanterns/)
  assert.equal(catalogue.current.named('paper lanterns')?.number, 1_000_001)
})

test('one source that says so makes a skill verifiable; an empty description is filled', async (t) => {
  const { take, catalogue } = await start(t)
  const plain = taxonomy('onet', [{ id: 'o:1', name: 'kite making' }])
  await take(plain)
  await take(taxonomy('csv', [{ id: 'c:1', name: 'kite making', verifiable: true, description: 'Makes kites.' }]))
  assert.deepEqual(counts(await take(plain)), [0, 0, 0, 1, 0])
  const { verifiable, description } = catalogue.current.named('kite making')!
  assert.deepEqual([verifiable, description], [true, 'Makes kites.'])
})

test('our own CSV finds places by name and number', async (t) => {
  const { take, catalogue } = await start(t)
  const sub = catalogue.current.subSkill(101)!
  const given = taxonomy(
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
  const { refused } = await take(given)
  assert.deepEqual(
    refused.map(({ row, reason }) => `${row}: ${reason}`),
    ['brick dance: there is no sub-skill ss_99'],
  )
  const { current } = catalogue
  assert.equal(current.named('brick art')?.sub.number, 101)
  assert.equal(current.subSkill(101)!.name, sub.name, 'the place keeps its spelling')
  assert.deepEqual(
    [current.named('brick poetry')?.sub.number, current.named('brick poetry')?.sub.master.number],
    [100_000, 1],
  )
  assert.equal(current.named('brick music')?.sub.number, 102)
  assert.deepEqual(counts(await take(given)), [0, 0, 0, 3, 1])
})

test('what cannot be kept is refused with a reason', async (t) => {
  const { take } = await start(t)
  const rows: [Given, RegExp][] = [
    [{ id: '', name: 'x' }, /no id/],
    [{ id: '2', name: ' \n' }, /no name/],
    [{ id: '3', name: 'x'.repeat(201) }, /longer than 200/],
    [{ id: '4', name: 'four', description: 'x'.repeat(4001) }, /longer than 4000/],
    [{ id: '5', name: 'nul \0' }, /cannot be stored/],
    [{ id: '6', name: 'half \ud800' }, /cannot be stored/],
    [{ id: '7', name: 'nowhere', subSkill: 'unknown' }, /no place/],
    [{ id: '8', name: 'x'.repeat(200), description: '😀'.repeat(4000) }, /^$/],
    [{ id: '8', name: 'the same id' }, /file:9 has the id 8 too/],
  ]
  const { refused, added } = await take(
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

test('an import that fails leaves nothing behind', async (t) => {
  const { take, context, catalogue } = await start(t)
  const { version } = catalogue.current
  const many = Array.from({ length: 2500 }, (_, i) => ({ id: `u:${i}`, name: `made up skill ${i}` }))
  const failing = take(taxonomy('esco', many), {
    progress(written: number) {
      if (written > 2000) throw new Error('pulled the plug')
    },
  })
  await assert.rejects(failing, /pulled the plug/)
  const { rows } = await context.db.pool.query(`select
    (select count(*)::int from skills where number >= 1000000) as skills,
    (select count(*)::int from sub_skills where source = 'esco') as "subSkills",
    (select count(*)::int from skill_sources where source = 'esco') as sources`)
  assert.deepEqual(rows[0], { skills: 0, subSkills: 0, sources: 0 })
  await catalogue.refresh()
  assert.equal(catalogue.current.version, version)
})

test('a running server takes up an import by another process and answers meanwhile', async (t) => {
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
    let asked = 0
    for (; catalogue.current.version !== version; asked++) {
      assert.ok(asked < 6000, 'the import was not taken up in time')
      assert.equal(catalogue.current.index.search('bricklaying').skills[0]?.number, 1001)
      await pause(5)
    }
    assert.ok(asked > 1, 'the server went on answering while the index was built')
    assert.equal(catalogue.current.skills.length, before + 5000)
    assert.equal(catalogue.current.index.search('alias 4321').skills[0]?.name, 'made up skill 4321')
  } finally {
    await other.close()
  }
})
