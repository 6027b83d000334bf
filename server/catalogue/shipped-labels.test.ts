import assert from 'node:assert/strict'
import { test } from 'node:test'
import { parseBuiltIn, readBuiltInFiles } from './built-in.ts'
import { functionWords } from './index/lexicon/filler-words.ts'
import { stopWords } from './index/lexicon/thesaurus.ts'
import { buildSkillIndexAtOnce } from './index/skill-index.ts'
import { wordsOf } from './index/text/tokens.ts'

/** What holds for every name and alias of the catalogue that ships. */

const { skills, subSkills, masters } = parseBuiltIn(await readBuiltInFiles())
const masterOf = new Map(masters.map(({ id, number }) => [id, { number: number! }]))
const groups = new Map(
  subSkills.map(({ id, number, name, master }) => [id, { number: number!, name, master: masterOf.get(master!)! }]),
)
const entries = skills.map(({ number, subSkill, ...skill }) => ({
  ...skill,
  number: number!,
  sub: groups.get(subSkill)!,
}))
const index = buildSkillIndexAtOnce(entries)
const labels = entries.flatMap(({ name, aliases }) => [name, ...aliases])

/** The skills that have a label, by its words: an alias may be that of several. */
const holders = new Map<string, Set<number>>()
for (const { number, name, aliases } of entries) {
  for (const label of [name, ...aliases]) {
    const key = wordsOf(label).join(' ')
    holders.set(key, (holders.get(key) ?? new Set()).add(number))
  }
}
const isHolder = (label: string, number: number) => holders.get(wordsOf(label).join(' '))!.has(number)

test('every name and alias, sent as a text, gives its own skill', () => {
  const missed = labels.filter((label) => !index.extract(label).some(({ number }) => isHolder(label, number)))
  assert.ok(labels.length > 15_000)
  assert.deepEqual(missed, [])
})

test('a name that holds commas is one mention', () => {
  const broken = entries
    .filter(({ name }) => /[,:(]/.test(name))
    .filter(({ number, name }) => {
      const [found] = index.extract(name)
      return found?.number !== number || found.mentions[0]!.text !== name
    })
  assert.deepEqual(
    broken.map(({ name }) => name),
    [],
  )
})

test('every name and alias, sent as a phrase, matches its own skill first', () => {
  // All names, and so many of the aliases that the test stays short.
  const asked = [...entries.map(({ name }) => name), ...labels.filter((_, i) => i % 5 === 0)]
  const missed = asked.filter((label) => {
    const [found] = index.match(label, 1)
    return !found || !isHolder(label, found.number)
  })
  assert.deepEqual(missed, [])
})

test('words that hold sentences together match no skill that is not called so', () => {
  for (const phrase of [...stopWords, ...functionWords, 'of the', 'who can', 'be able to', 'the person who will']) {
    const [found] = index.match(phrase, 1)
    if (found) assert.ok(isHolder(phrase, found.number) || found.score < 0.05, `${phrase}: ${found.name}`)
  }
})

test('what people say around a skill does not lead astray', () => {
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

test('variants that people write are found in a text', () => {
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
