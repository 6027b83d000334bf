import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { test } from 'node:test'
import { sql } from 'kysely'
import { startApp } from '../../test/support/app.ts'
import { createLog } from '../platform/log.ts'
import { loadBuiltInCatalogue, parseBuiltInCatalogue, readBuiltInCatalogueFiles } from './built-in.ts'
import { distinctAliases, nameKey } from './names.ts'

const taxonomy = parseBuiltInCatalogue(await readBuiltInCatalogueFiles())

test('the built-in catalogue has at least 2,500 skills, of which 150 are verifiable', () => {
  assert.ok(taxonomy.skills.length >= 2500, `${taxonomy.skills.length} skills`)
  const verifiableCount = taxonomy.skills.filter((skill) => skill.verifiable).length
  assert.ok(verifiableCount >= 150, `${verifiableCount} verifiable`)
})

test('every built-in skill has a name, a description of one sentence and 2 to 8 aliases', () => {
  for (const { location, name, description, aliases } of taxonomy.skills) {
    assert.match(name, /^\S.{0,78}\S$/u, `${location}: the name must have 2 to 80 characters`)
    assert.match(
      description,
      /^\S.{23,218}\.$/u,
      `${location}: the description must be one sentence of 25 to 220 characters`,
    )
    assert.ok(aliases.length >= 2 && aliases.length <= 8, `${location}: ${aliases.length} aliases`)
    assert.deepEqual(distinctAliases(name, aliases), aliases, `${location}: duplicate alias`)
  }
})

test('no alias is the name of another skill', () => {
  const idsByName = new Map(taxonomy.skills.map(({ name, id }) => [nameKey(name), id]))
  for (const { id, location, aliases } of taxonomy.skills) {
    for (const alias of aliases) assert.equal(idsByName.get(nameKey(alias)) ?? id, id, `${location}: ${alias}`)
  }
})

test('Hindi words are well-formed and contain no Latin letters', () => {
  for (const { location, aliases } of taxonomy.skills) {
    for (const word of aliases.flatMap((alias) => alias.split(/[\s/-]/))) {
      assert.doesNotMatch(word, /^[\u0900-\u0903\u093a-\u094f]/, `${location}: ${word} starts with a combining sign`)
      assert.doesNotMatch(
        word,
        /[\u093e-\u094c]{2}|\u094d[\u093e-\u094d]/,
        `${location}: ${word} has two combining signs on a letter`,
      )
      assert.doesNotMatch(word, /\p{Script=Devanagari}.*[a-z]|[a-z].*\p{Script=Devanagari}/iu, `${location}: ${word}`)
    }
  }
})

test('the numbers of built-in skills encode the hierarchy and are lower than those of imported skills', () => {
  const numberOf = (id: string) => Number(id.slice(3))
  for (const { number, subSkill, location } of taxonomy.skills) {
    assert.equal(Math.floor(number! / 1000), Math.floor(numberOf(subSkill) / 100), location)
    assert.ok(number! < 1_000_000, location)
  }
  for (const { id, number, master } of taxonomy.subSkills) {
    assert.equal(Math.floor(number! / 100), numberOf(master!), id)
    assert.ok(number! < 100_000, id)
  }
  for (const { id, number } of taxonomy.masters) assert.ok(number! < 1000, id)
})

/** The first released name of each ID, by ID. Lines of this file are never changed or removed. */
const releasedNames = new Map(
  readFileSync(new URL('../../data/skills/released.tsv', import.meta.url), 'utf8')
    .trim()
    .split('\n')
    .map((line) => line.split('\t') as [string, string]),
)

test('released IDs are never removed and keep their meaning', () => {
  const groupNames = new Map([...taxonomy.masters, ...taxonomy.subSkills].map(({ id, name }) => [id, [name]]))
  const skillNames = new Map(taxonomy.skills.map(({ id, name, aliases }) => [id, [name, ...aliases]]))
  for (const [id, name] of releasedNames) {
    const currentNames = skillNames.get(id) ?? groupNames.get(id)
    assert.ok(currentNames, `${id} (${name}) is missing in data/skills; IDs are permanent`)
    assert.ok(
      currentNames.map(nameKey).includes(nameKey(name)),
      `${id} was released as ${name}: keep this name as an alias of a renamed skill; groups cannot be renamed`,
    )
  }
})

test('every ID is listed in released.tsv', () => {
  const unlisted = [...taxonomy.masters, ...taxonomy.subSkills, ...taxonomy.skills].filter(
    ({ id }) => !releasedNames.has(id),
  )
  const lines = unlisted.map(({ id, name }) => `${id}\t${name}`).join('\n')
  assert.equal(lines, '', `add these lines to data/skills/released.tsv:\n${lines}`)
})

const CATALOGUE_FILE = `# Construction | ms_1
## Bricks | ss_101
sk_1001 | Bricklaying | v | Lays bricks in mortar to line, level and plumb. | brick work; raj mistri
`

test('an error in a catalogue file is reported with file name and line number', () => {
  const cases: [string, RegExp][] = [
    [CATALOGUE_FILE.replace(' | v | ', ' | x | '), /01-a\.txt:3: expected v or -/],
    [CATALOGUE_FILE.replace('sk_1001', 'sk_0'), /01-a\.txt:3: expected an ID such as sk_1001/],
    [CATALOGUE_FILE.replace(' | raj', '; raj').replace(' | brick work', ''), /01-a\.txt:3: expected "sk_N \| name/],
    [CATALOGUE_FILE.replace('; raj mistri', '; '), /01-a\.txt:3: empty field/],
    [CATALOGUE_FILE.replace('ss_101', 'sub_101'), /01-a\.txt:2: expected "## Name \| ss_N"/],
    [CATALOGUE_FILE.replace('# Construction | ms_1\n', ''), /01-a\.txt:1: sub-skill before its master skill/],
    [CATALOGUE_FILE.replace('## Bricks | ss_101\n', ''), /01-a\.txt:2: skill before its sub-skill/],
    [
      CATALOGUE_FILE + CATALOGUE_FILE.split('\n')[2],
      /01-a\.txt:4: sk_1001 is already defined at data\/skills\/01-a\.txt:3/,
    ],
    [
      CATALOGUE_FILE + CATALOGUE_FILE.split('\n')[2]!.replace('sk_1001 | B', 'sk_1002 | b'),
      /01-a\.txt:4: the name bricklaying is already defined at/,
    ],
  ]
  assert.equal(parseBuiltInCatalogue([{ name: '01-a.txt', text: CATALOGUE_FILE }]).skills.length, 1)
  for (const [text, expected] of cases)
    assert.throws(() => parseBuiltInCatalogue([{ name: '01-a.txt', text }]), expected)
})

test('concurrent processes load the same files once, and changed files update the catalogue', async (t) => {
  const { context, clock } = await startApp(t)
  const { db, catalogue } = context
  const log = createLog('silent')
  const { version } = catalogue.current
  await Promise.all([loadBuiltInCatalogue(db, clock, log), loadBuiltInCatalogue(db, clock, log)])
  await catalogue.refresh()
  assert.equal(catalogue.current.version, version)

  // Simulates a database that an older release has filled.
  await sql`update skills set description = 'Old.', aliases = '{}' where number = 1001`.execute(db.queries)
  await sql`update skill_sources set aliases = '{}' where source = 'builtin' and source_id = 'sk_1001'`.execute(
    db.queries,
  )
  await sql`delete from skill_sources where source_id = 'sk_1002'`.execute(db.queries)
  await sql`delete from skills where number = 1002`.execute(db.queries)
  await sql`update catalogue_version set built_in_checksum = 'older'`.execute(db.queries)
  await Promise.all([loadBuiltInCatalogue(db, clock, log), loadBuiltInCatalogue(db, clock, log)])
  await catalogue.refresh()
  assert.equal(catalogue.current.version, version + 1)
  const { id, name, description, aliases } = taxonomy.skills[0]!
  assert.equal(id, 'sk_1001')
  const bricklaying = catalogue.current.skill(1001)!
  assert.deepEqual([bricklaying.name, bricklaying.description, bricklaying.aliases], [name, description, aliases])
  assert.equal(catalogue.current.skill(1002)?.name, taxonomy.skills[1]!.name)
  assert.equal(catalogue.current.skills.length, taxonomy.skills.length)
})
