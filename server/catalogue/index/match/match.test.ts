import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { buildSkillIndexSync } from '../skill-index.ts'

const skills = [
  { number: 1, name: 'Work in teams', aliases: ['teamwork', 'cooperate with others'] },
  { number: 2, name: 'Manage staff', aliases: ['supervise staff', 'manage personnel', 'supervise personnel'] },
  { number: 3, name: 'Manage budgets', aliases: ['supervise budgets', 'administer budgets'] },
  { number: 4, name: 'JavaScript', aliases: ['ECMAScript'] },
  { number: 5, name: 'Java (computer programming)', aliases: ['core Java'] },
  { number: 6, name: 'Human resource management', aliases: [] },
  { number: 7, name: 'Bricklaying', aliases: ['raj mistri', 'राजमिस्त्री'] },
  { number: 8, name: 'Repair engines', aliases: ['engine repair', 'fix engines'] },
  { number: 9, name: 'Welding', aliases: [] },
  { number: 10, name: 'Welding inspection', aliases: [] },
  { number: 11, name: 'Manage inventory', aliases: [] },
  { number: 12, name: 'C', aliases: ['C programming'] },
  { number: 13, name: 'Mason', aliases: ['raj mistri'] },
]
const index = buildSkillIndexSync(skills)
const best = (phrase: string) => index.match(phrase, 1)[0]

test('the method of a name is exact, that of an alias is alias', () => {
  assert.deepEqual([best('manage STAFF')!.number, best('manage STAFF')!.method], [2, 'exact'])
  assert.deepEqual([best('teamwork')!.number, best('teamwork')!.method], [1, 'alias'])
  assert.deepEqual([best('Java')!.number, best('Java')!.method], [5, 'exact'])
  assert.deepEqual([best('राजमिस्त्री')!.number, best('राजमिस्त्री')!.method], [7, 'alias'])
})

test('the method of other forms, orders and spellings is fuzzy', () => {
  for (const [phrase, number] of [
    ['managing the staff', 2],
    ['staff managing', 2],
    ['weldng', 9],
    ['java script', 4],
    ['राज मिस्त्री', 7],
    ['raaj mistry', 7],
  ] as const) {
    const found = best(phrase)!
    assert.deepEqual([found.number, found.method], [number, 'fuzzy'], phrase)
  }
})

test('the method of synonyms is semantic', () => {
  for (const [phrase, number] of [
    ['HR management', 6],
    ['team player', 1],
    ['mend engines', 8],
    ['lead employees', 2],
  ] as const) {
    const found = best(phrase)!
    assert.deepEqual([found.number, found.method], [number, 'semantic'], phrase)
  }
})

test('a word that shares only its root with a label finds it', () => {
  const some = buildSkillIndexSync([
    { number: 1, name: 'Listen actively', aliases: [] },
    { number: 2, name: 'Fastener assembly', aliases: [] },
  ])
  assert.deepEqual(
    some.match('listener', 2).map(({ number }) => number),
    [1],
  )
})

test('a noun in -ing is not the verb', () => {
  const some = buildSkillIndexSync([
    { number: 1, name: 'Inspect buildings', aliases: [] },
    { number: 2, name: 'Build dashboards', aliases: [] },
  ])
  assert.equal(some.match('build reports', 1)[0]!.number, 2)
  assert.equal(some.match('building', 1)[0]!.number, 1)
})

test('a short form is expanded if it makes up most of the phrase', () => {
  const some = buildSkillIndexSync([
    { number: 1, name: 'Attend to detail', aliases: [] },
    { number: 2, name: 'Machine learning', aliases: [] },
  ])
  assert.equal(some.match('accurate', 1)[0]!.number, 1)
  assert.deepEqual(some.match('build highly accurate scalable global payment services', 1), [])
})

test('synonyms are learned from the aliases of the catalogue', () => {
  // Pots and tiles are both glazed and enamelled, so plates may be enamelled, too.
  const taught = buildSkillIndexSync([
    { number: 1, name: 'Glaze pots', aliases: ['enamel pots'] },
    { number: 2, name: 'Glaze tiles', aliases: ['enamel tiles'] },
    { number: 3, name: 'Glaze plates', aliases: [] },
    { number: 4, name: 'Serve plates', aliases: [] },
  ])
  const found = taught.match('enamel plates', 1)[0]!
  assert.deepEqual([found.number, found.method], [3, 'semantic'])
})

test('praise around a skill is ignored', () => {
  assert.equal(best('strong experience in welding')!.number, 9)
  assert.equal(best('excellent knowledge of JavaScript')!.number, 4)
  assert.ok(best('good experience welding')!.score > best('purple umbrella welding')!.score)
})

test('scores are between 0 and 1 and in descending order', () => {
  for (const phrase of ['welding', 'manage', 'raj mistri', 'manage staff budgets', 'c']) {
    const found = index.match(phrase, 10)
    assert.ok(found.length > 0, phrase)
    for (let i = 0; i < found.length; i++) {
      assert.ok(found[i]!.score > 0 && found[i]!.score < 1)
      if (i > 0) assert.ok(found[i]!.score <= found[i - 1]!.score)
    }
  }
})

test('an exact name scores above an alias, an alias above a guess', () => {
  assert.ok(best('welding')!.score > 0.85)
  assert.ok(best('welding')!.score > best('ECMAScript')!.score)
  assert.ok(best('ECMAScript')!.score > best('supervise inventory')!.score)
})

test('an alias of two skills scores below an alias of one', () => {
  assert.ok(best('raj mistri')!.score < best('ECMAScript')!.score)
})

test('the number of candidates is limited', () => {
  for (const limit of [1, 3, 10]) assert.ok(index.match('manage', limit).length <= limit)
})

test('a phrase of unknown words or stop words has no candidates', () => {
  assert.deepEqual(index.match('zzzz qqqq', 3), [])
  assert.deepEqual(index.match('', 3), [])
  assert.deepEqual(index.match('👍👍', 3), [])
  assert.deepEqual(index.match('of the and', 3), [])
})

test('a function word is not another form or spelling of a skill', () => {
  const some = buildSkillIndexSync([
    { number: 1, name: 'Canning', aliases: [] },
    { number: 2, name: 'Autodesk Maya', aliases: ['Maya'] },
    { number: 3, name: 'Truck driving', aliases: [] },
    { number: 4, name: 'Water can delivery', aliases: [] },
    { number: 5, name: 'DID', aliases: [] },
  ])
  for (const phrase of ['can', 'may', 'who can', 'good', 'have']) assert.deepEqual(some.match(phrase, 3), [], phrase)
  // A skill with such a name is found by its exact name.
  assert.deepEqual([some.match('did', 1)[0]!.number, some.match('did', 1)[0]!.method], [5, 'exact'])
  assert.equal(some.match('water can delivery', 1)[0]!.method, 'exact')
  assert.equal(some.match('someone who can drive a truck', 1)[0]!.number, 3)
  assert.ok(some.match('someone who can drive a truck', 1)[0]!.score > 0.5)
})

test('an exact alias ranks before a similar name', () => {
  const some = buildSkillIndexSync([
    { number: 1, name: 'Hardness testing', aliases: [] },
    { number: 2, name: 'Water softening', aliases: ['hardness test'] },
  ])
  assert.deepEqual([some.match('hardness test', 1)[0]!.number, some.match('hardness testing', 1)[0]!.number], [2, 1])
})

test('words about the applicant are not skills and do not change the candidates of a skill', () => {
  const some = buildSkillIndexSync([
    { number: 1, name: 'Hardness testing', aliases: [] },
    { number: 2, name: 'Wood joinery', aliases: ['joiner'] },
    { number: 3, name: 'Local SEO', aliases: [] },
    { number: 4, name: 'Time management', aliases: [] },
    { number: 5, name: 'House wiring', aliases: ['electrician'] },
    { number: 6, name: 'Night shift guarding', aliases: [] },
  ])
  for (const phrase of [
    'hard working',
    'immediate joiner',
    'local candidate',
    'female only',
    'age 18 to 30',
    '12th pass',
  ])
    assert.deepEqual(some.match(phrase, 3), [], phrase)
  for (const phrase of ['hardworking electrician', 'full time electrician', 'fresher electrician'])
    assert.deepEqual(some.match(phrase, 1), some.match('electrician', 1), phrase)
  assert.equal(some.match('joiner', 1)[0]!.method, 'alias')
  assert.equal(some.match('night shift guarding', 1)[0]!.method, 'exact')
})

test('among equally similar skills the general one ranks first', () => {
  const sub = { number: 1, name: 'Welding', master: { number: 1 } }
  const some = buildSkillIndexSync([
    { number: 1, name: 'Rod welding', aliases: [], verifiable: true, sub },
    { number: 2, name: 'Rail welding', aliases: ['AT welding'], verifiable: false, sub },
    { number: 3, name: 'Brazing', aliases: ['braze welding'], verifiable: false, sub },
  ])
  assert.equal(some.match('weldng', 1)[0]!.number, 1)
  assert.equal(some.match('welding', 1)[0]!.number, 1)
  assert.equal(some.match('AT welding', 1)[0]!.number, 2)
})

test('other phrases in between do not change the result', () => {
  const before = index.match('manage staff', 5)
  for (const phrase of ['weldng', 'raj mistri', 'team player', 'x']) index.match(phrase, 5)
  assert.deepEqual(index.match('manage staff', 5), before)
})

test('any phrase returns scores between 0 and 1', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'grapheme', maxLength: 200 }), (phrase) => {
      assert.ok(index.match(phrase, 10).every(({ score }) => score > 0 && score < 1))
    }),
    { numRuns: 300 },
  )
})
