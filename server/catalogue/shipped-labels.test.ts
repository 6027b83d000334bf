import assert from 'node:assert/strict'
import { test } from 'node:test'
import { parseBuiltInCatalogue, readBuiltInCatalogueFiles } from './built-in.ts'
import { functionWords, stopWords } from './index/lexicon/lexicon.ts'
import { buildSkillIndexSync } from './index/skill-index.ts'
import { tokenize } from './index/text/tokens.ts'

/** Checks the labels (names and aliases) of the built-in catalogue. */

const { skills, subSkills, masters } = parseBuiltInCatalogue(await readBuiltInCatalogueFiles())
const mastersById = new Map(masters.map(({ id, number }) => [id, { number: number! }]))
const subSkillsById = new Map(
  subSkills.map(({ id, number, name, master }) => [id, { number: number!, name, master: mastersById.get(master!)! }]),
)
const entries = skills.map(({ number, subSkill, verifiable, ...skill }) => ({
  ...skill,
  number: number!,
  isPreferred: verifiable,
  sub: subSkillsById.get(subSkill)!,
}))
const index = buildSkillIndexSync(entries)
const labels = entries.flatMap(({ name, aliases }) => [name, ...aliases])

/** Numbers of the skills with each name or alias, by its folded words joined by spaces. Several skills can have the same alias. */
const skillsByLabel = new Map<string, Set<number>>()
for (const { number, name, aliases } of entries) {
  for (const label of [name, ...aliases]) {
    const key = tokenize(label).join(' ')
    skillsByLabel.set(key, (skillsByLabel.get(key) ?? new Set()).add(number))
  }
}
const hasLabel = (label: string, number: number) => skillsByLabel.get(tokenize(label).join(' '))!.has(number)

test('a name or alias is extracted as a mention of its skill', () => {
  const missedLabels = labels.filter((label) => !index.extract(label).some(({ number }) => hasLabel(label, number)))
  assert.ok(labels.length > 15_000)
  assert.deepEqual(missedLabels, [])
})

test('a name with punctuation is extracted as one mention', () => {
  const failedEntries = entries
    .filter(({ name }) => /[,:(]/.test(name))
    .filter(({ number, name }) => {
      const [firstSkill] = index.extract(name)
      return firstSkill?.number !== number || firstSkill.mentions[0]!.text !== name
    })
  assert.deepEqual(
    failedEntries.map(({ name }) => name),
    [],
  )
})

test('matching a name or alias returns its skill first', () => {
  // Checks all names but only every fifth label, because checking all labels is slow.
  const sampledLabels = [...entries.map(({ name }) => name), ...labels.filter((_, i) => i % 5 === 0)]
  const missedLabels = sampledLabels.filter((label) => {
    const [firstMatch] = index.match(label, 1)
    return !firstMatch || !hasLabel(label, firstMatch.number)
  })
  assert.deepEqual(missedLabels, [])
})

test('function words match only skills with exactly that name or alias', () => {
  for (const phrase of [...stopWords, ...functionWords, 'of the', 'who can', 'be able to', 'the person who will']) {
    const [firstMatch] = index.match(phrase, 1)
    if (firstMatch)
      assert.ok(hasLabel(phrase, firstMatch.number) || firstMatch.score < 0.05, `${phrase}: ${firstMatch.name}`)
  }
})

test('filler words around a skill do not change the match', () => {
  for (const [phrase, name] of [
    ['someone who can drive a truck', 'Heavy truck driving'],
    ['wanted: driver with licence', 'Car driving'],
    ['may drive', 'Car driving'],
    ['good at talking to customers', 'Customer support'],
    ['fixing air conditioners', 'AC fault diagnosis'],
    ['person to look after old people', 'Elder companionship'],
    ['weldng', 'Arc welding'],
    ['welding', 'Arc welding'],
    ['MIS reporting daily', 'MIS reporting'],
    ['a.c. technician', 'Split AC installation'],
  ] as const)
    assert.equal(index.match(phrase, 1)[0]?.name, name, phrase)
})

test('spelling variants are found in a text', () => {
  for (const [text, names] of [
    ['A.C. technician and 2-wheeler mechanic', ['Split AC installation', 'Two-wheeler repair']],
    ['two wheeler mechanics', ['Two-wheeler repair']],
    ['Fork lift operators', ['Forklift operation']],
    ['MIS reporting daily', ['MIS reporting']],
    ['C.N.C. operator', ['CNC turning operation']],
  ] as const)
    assert.deepEqual(
      index
        .extract(text)
        .map(({ name }) => name)
        .sort(),
      [...names].sort(),
      text,
    )
  assert.equal(index.search('a.c. technician', { limit: 1 }).skills[0]!.name, 'Split AC installation')
})
