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
const bestMatch = (phrase: string) => index.match(phrase, 1)[0]

test('a match by name has the method exact, a match by alias the method alias', () => {
  assert.deepEqual([bestMatch('manage STAFF')!.number, bestMatch('manage STAFF')!.method], [2, 'exact'])
  assert.deepEqual([bestMatch('teamwork')!.number, bestMatch('teamwork')!.method], [1, 'alias'])
  assert.deepEqual([bestMatch('Java')!.number, bestMatch('Java')!.method], [5, 'exact'])
  assert.deepEqual([bestMatch('राजमिस्त्री')!.number, bestMatch('राजमिस्त्री')!.method], [7, 'alias'])
})

test('a match of other word forms, orders and spellings has the method fuzzy', () => {
  for (const [phrase, number] of [
    ['managing the staff', 2],
    ['staff managing', 2],
    ['weldng', 9],
    ['java script', 4],
    ['राज मिस्त्री', 7],
    ['raaj mistry', 7],
  ] as const) {
    const firstMatch = bestMatch(phrase)!
    assert.deepEqual([firstMatch.number, firstMatch.method], [number, 'fuzzy'], phrase)
  }
})

test('a match of synonyms has the method semantic', () => {
  for (const [phrase, number] of [
    ['HR management', 6],
    ['team player', 1],
    ['mend engines', 8],
    ['lead employees', 2],
  ] as const) {
    const firstMatch = bestMatch(phrase)!
    assert.deepEqual([firstMatch.number, firstMatch.method], [number, 'semantic'], phrase)
  }
})

test('a word matches a label word with the same root (listener, listen)', () => {
  const smallIndex = buildSkillIndexSync([
    { number: 1, name: 'Listen actively', aliases: [] },
    { number: 2, name: 'Fastener assembly', aliases: [] },
  ])
  assert.deepEqual(
    smallIndex.match('listener', 2).map(({ number }) => number),
    [1],
  )
})

test('a noun in -ing does not match the verb (building, build)', () => {
  const smallIndex = buildSkillIndexSync([
    { number: 1, name: 'Inspect buildings', aliases: [] },
    { number: 2, name: 'Build dashboards', aliases: [] },
  ])
  assert.equal(smallIndex.match('build reports', 1)[0]!.number, 2)
  assert.equal(smallIndex.match('building', 1)[0]!.number, 1)
})

test('a short form is expanded if it makes up most of the phrase', () => {
  const smallIndex = buildSkillIndexSync([
    { number: 1, name: 'Attend to detail', aliases: [] },
    { number: 2, name: 'Machine learning', aliases: [] },
  ])
  assert.equal(smallIndex.match('accurate', 1)[0]!.number, 1)
  assert.deepEqual(smallIndex.match('build highly accurate scalable global payment services', 1), [])
})

test('synonyms are learned from the aliases of the catalogue', () => {
  // Two skills have labels that differ only in glaze and enamel, so these two words are synonyms.
  const learningIndex = buildSkillIndexSync([
    { number: 1, name: 'Glaze pots', aliases: ['enamel pots'] },
    { number: 2, name: 'Glaze tiles', aliases: ['enamel tiles'] },
    { number: 3, name: 'Glaze plates', aliases: [] },
    { number: 4, name: 'Serve plates', aliases: [] },
  ])
  const firstMatch = learningIndex.match('enamel plates', 1)[0]!
  assert.deepEqual([firstMatch.number, firstMatch.method], [3, 'semantic'])
})

test('stop words of aliases are ignored when synonyms are learned', () => {
  const learningIndex = buildSkillIndexSync([
    { number: 1, name: 'Pots with glaze', aliases: ['pots enamel'] },
    { number: 2, name: 'Tiles with glaze', aliases: ['tiles enamel'] },
    { number: 3, name: 'Plates glaze', aliases: [] },
    { number: 4, name: 'Plates serving', aliases: [] },
  ])
  const firstMatch = learningIndex.match('plates enamel', 1)[0]!
  assert.deepEqual([firstMatch.number, firstMatch.method], [3, 'semantic'])
})

test('words of praise around a skill hardly change the match', () => {
  assert.equal(bestMatch('strong experience in welding')!.number, 9)
  assert.equal(bestMatch('excellent knowledge of JavaScript')!.number, 4)
  assert.ok(bestMatch('good experience welding')!.score > bestMatch('purple umbrella welding')!.score)
})

test('scores are between 0 and 1 and in descending order', () => {
  for (const phrase of ['welding', 'manage', 'raj mistri', 'manage staff budgets', 'c']) {
    const matches = index.match(phrase, 10)
    assert.ok(matches.length > 0, phrase)
    for (let i = 0; i < matches.length; i++) {
      assert.ok(matches[i]!.score > 0 && matches[i]!.score < 1)
      if (i > 0) assert.ok(matches[i]!.score <= matches[i - 1]!.score)
    }
  }
})

test('an exact name scores above an exact alias, and an exact alias above a similar name', () => {
  assert.ok(bestMatch('welding')!.score > 0.85)
  assert.ok(bestMatch('welding')!.score > bestMatch('ECMAScript')!.score)
  assert.ok(bestMatch('ECMAScript')!.score > bestMatch('supervise inventory')!.score)
})

test('an alias that two skills share scores below an alias of one skill', () => {
  assert.ok(bestMatch('raj mistri')!.score < bestMatch('ECMAScript')!.score)
})

test('match returns at most `limit` skills', () => {
  for (const limit of [1, 3, 10]) assert.ok(index.match('manage', limit).length <= limit)
})

test('a phrase of unknown words or stop words has no matches', () => {
  assert.deepEqual(index.match('zzzz qqqq', 3), [])
  assert.deepEqual(index.match('', 3), [])
  assert.deepEqual(index.match('👍👍', 3), [])
  assert.deepEqual(index.match('of the and', 3), [])
})

test('a function word does not match a similar word (can and Canning, may and Maya)', () => {
  const smallIndex = buildSkillIndexSync([
    { number: 1, name: 'Canning', aliases: [] },
    { number: 2, name: 'Autodesk Maya', aliases: ['Maya'] },
    { number: 3, name: 'Truck driving', aliases: [] },
    { number: 4, name: 'Water can delivery', aliases: [] },
    { number: 5, name: 'DID', aliases: [] },
  ])
  for (const phrase of ['can', 'may', 'who can', 'good', 'have'])
    assert.deepEqual(smallIndex.match(phrase, 3), [], phrase)
  // A skill whose name is a function word is found by its exact name.
  assert.deepEqual([smallIndex.match('did', 1)[0]!.number, smallIndex.match('did', 1)[0]!.method], [5, 'exact'])
  assert.equal(smallIndex.match('water can delivery', 1)[0]!.method, 'exact')
  assert.equal(smallIndex.match('someone who can drive a truck', 1)[0]!.number, 3)
  assert.ok(smallIndex.match('someone who can drive a truck', 1)[0]!.score > 0.5)
})

test('an exact alias ranks before a similar name', () => {
  const smallIndex = buildSkillIndexSync([
    { number: 1, name: 'Hardness testing', aliases: [] },
    { number: 2, name: 'Water softening', aliases: ['hardness test'] },
  ])
  assert.deepEqual(
    [smallIndex.match('hardness test', 1)[0]!.number, smallIndex.match('hardness testing', 1)[0]!.number],
    [2, 1],
  )
})

test('words about the applicant match no skill and do not change the matches of other words', () => {
  const smallIndex = buildSkillIndexSync([
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
    assert.deepEqual(smallIndex.match(phrase, 3), [], phrase)
  for (const phrase of ['hardworking electrician', 'full time electrician', 'fresher electrician'])
    assert.deepEqual(smallIndex.match(phrase, 1), smallIndex.match('electrician', 1), phrase)
  assert.equal(smallIndex.match('joiner', 1)[0]!.method, 'alias')
  assert.equal(smallIndex.match('night shift guarding', 1)[0]!.method, 'exact')
})

test('among equally similar skills the general one ranks first', () => {
  const subSkill = { number: 1, name: 'Welding', master: { number: 1 } }
  const smallIndex = buildSkillIndexSync([
    { number: 1, name: 'Rod welding', aliases: [], isPreferred: true, sub: subSkill },
    { number: 2, name: 'Rail welding', aliases: ['AT welding'], isPreferred: false, sub: subSkill },
    { number: 3, name: 'Brazing', aliases: ['braze welding'], isPreferred: false, sub: subSkill },
  ])
  assert.equal(smallIndex.match('weldng', 1)[0]!.number, 1)
  assert.equal(smallIndex.match('welding', 1)[0]!.number, 1)
  assert.equal(smallIndex.match('AT welding', 1)[0]!.number, 2)
})

test('matching other phrases in between does not change the result of a phrase', () => {
  const resultBefore = index.match('manage staff', 5)
  for (const phrase of ['weldng', 'raj mistri', 'team player', 'x']) index.match(phrase, 5)
  assert.deepEqual(index.match('manage staff', 5), resultBefore)
})

test('the scores of any phrase are between 0 and 1', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'grapheme', maxLength: 200 }), (phrase) => {
      assert.ok(index.match(phrase, 10).every(({ score }) => score > 0 && score < 1))
    }),
    { numRuns: 300 },
  )
})
