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
    ['वेल्डिंग इंस्पेक्शन', 10],
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

test('a word with the same root is another form of the word, also if the thesaurus lists both', () => {
  const smallIndex = buildSkillIndexSync([{ number: 1, name: 'Collaborate in teams', aliases: [] }])
  assert.equal(smallIndex.match('collaboration in teams', 1)[0]!.method, 'fuzzy')
  assert.equal(smallIndex.match('cooperation in teams', 1)[0]!.method, 'semantic')
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

test('a phrase without a common word finds the skill with a similar meaning, also in a catalogue that was not trained', () => {
  const smallIndex = buildSkillIndexSync([
    { number: 1, name: 'Prepare invoices', aliases: [] },
    { number: 2, name: 'Groom horses', aliases: [] },
    { number: 3, name: 'Weld pipes', aliases: [] },
  ])
  const firstMatch = smallIndex.match('billing clients', 1)[0]!
  assert.deepEqual([firstMatch.number, firstMatch.method], [1, 'semantic'])
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
  assert.ok(bestMatch('ECMAScript')!.score > bestMatch('supervise the inventory of engines')!.score)
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

test('a correct English word is not taken for a misspelling of another word', () => {
  const smallIndex = buildSkillIndexSync([
    { number: 1, name: 'Horse grooming', aliases: [] },
    { number: 2, name: 'Welding', aliases: [] },
  ])
  assert.deepEqual(smallIndex.match('house', 1), [])
  assert.equal(smallIndex.match('weldng', 1)[0]!.number, 2)
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

const welding = { number: 1, name: 'Welding', master: { number: 1 } }
const office = { number: 2, name: 'Office work', master: { number: 2 } }
const scoredSkills = [
  { number: 1, name: 'Arc welding', aliases: ['stick welding', 'AT welding'], isPreferred: true, sub: welding },
  { number: 2, name: 'Gas welding', aliases: ['oxy welding'], sub: welding },
  { number: 3, name: 'Brazing', aliases: ['braze welding'], sub: welding },
  { number: 4, name: 'Manage staff', aliases: ['supervise staff', 'staff management'], sub: office },
  { number: 5, name: 'Manage budgets', aliases: ['supervise budgets'], sub: office },
  { number: 6, name: 'Customer service', aliases: ['client service'], isPreferred: true, sub: office },
  { number: 7, name: 'Elder care', aliases: ['care of the elderly'], sub: office },
  { number: 8, name: 'Heating ventilation air conditioning maintenance', aliases: [], sub: office },
  { number: 9, name: 'JavaScript', aliases: ['ECMAScript'], sub: office },
  { number: 10, name: 'Raj mistri', aliases: ['bricklaying'], sub: welding },
  { number: 11, name: 'Glaze pots', aliases: ['enamel pots'], sub: welding },
  { number: 12, name: 'Glaze tiles', aliases: ['enamel tiles'], sub: welding },
  { number: 13, name: 'Glaze plates', aliases: [], sub: welding },
  { number: 14, name: 'Process excellence', aliases: ['excellence'], sub: office },
  { number: 15, name: 'Follow up', aliases: ['lead follow up'], sub: office },
  { number: 16, name: 'Data entry', aliases: ['typing'], sub: office },
  { number: 17, name: 'Data engineering', aliases: [], isPreferred: true, sub: office },
  { number: 18, name: 'House wiring', aliases: ['electrician'], isPreferred: true, sub: office },
  { number: 19, name: 'Machine grade 1', aliases: ['lathe grade 1'], sub: welding },
  { number: 20, name: 'Machine grade 2', aliases: ['lathe grade 2'], sub: welding },
]

/** Phrases with their first three matches: the skill, the method and the score. */
const SCORED_PHRASES: readonly (readonly [phrase: string, matches: string])[] = [
  // The name, an alias, a part of a name.
  ['arc welding', '1 exact 0.9302, 3 fuzzy 0.0172, 2 fuzzy 0.0145'],
  ['stick welding', '1 alias 0.7994, 3 fuzzy 0.0171, 2 fuzzy 0.0145'],
  ['welding', '1 fuzzy 0.293, 3 semantic 0.1493, 2 fuzzy 0.1473'],
  ['staff', '4 fuzzy 0.7198'],
  ['data', '17 fuzzy 0.4221, 16 fuzzy 0.1335'],
  // Other forms, order and typos.
  ['managing staff', '4 fuzzy 0.8641, 5 fuzzy 0.0153'],
  ['staff managing', '4 fuzzy 0.8641, 5 fuzzy 0.0153'],
  ['weldings arc', '1 fuzzy 0.8641, 3 fuzzy 0.0169, 2 fuzzy 0.0141'],
  ['manag staf', '4 fuzzy 0.787, 5 fuzzy 0.014'],
  ['jvascript', '9 fuzzy 0.7824'],
  ['javascrpit', '9 fuzzy 0.7584'],
  ['arrc weldng', '1 fuzzy 0.7714, 2 fuzzy 0.0123, 3 fuzzy 0.0071'],
  // Words that sound alike.
  ['raaj mistry', '10 fuzzy 0.8051, 1 fuzzy 0.0072, 18 fuzzy 0.0072'],
  ['braizing', '3 fuzzy 0.7584'],
  // Joined and split words.
  ['java script', '9 fuzzy 0.862'],
  ['rajmistri', '10 fuzzy 0.8649, 1 fuzzy 0.0074, 18 fuzzy 0.0074'],
  ['dataentry', '16 fuzzy 0.8649, 17 fuzzy 0.0162'],
  ['customer-service', '6 exact 0.9302'],
  // Synonyms of the thesaurus, and other words with the same root.
  ['lead staff', '4 semantic 0.7768, 5 semantic 0.0107, 15 fuzzy 0.0073'],
  ['oversee budgets', '5 semantic 0.7733, 4 semantic 0.0113'],
  ['bricklayer', '10 fuzzy 0.4577'],
  ['engineer data', '17 fuzzy 0.7913, 16 fuzzy 0.0151'],
  // Synonyms that the aliases show; numbers are none.
  ['enamel plates', '13 semantic 0.8063, 11 fuzzy 0.0129, 12 fuzzy 0.0128'],
  ['lathe grade 1', '19 alias 0.9091, 20 fuzzy 0.0227'],
  ['lathe grade 3', '19 fuzzy 0.2346, 20 fuzzy 0.1257'],
  // Short forms and spoken phrases.
  ['hvac maintenance', '8 semantic 0.8627'],
  ['senior hvac maintenance of large office buildings today', ''],
  ['talking to customers', '6 semantic 0.8606'],
  ['look after old people', '7 semantic 0.86'],
  ['take care of senior citizens', '7 semantic 0.8609'],
  // Praise, generic words, function words and stop words.
  ['excellent data entry', '16 fuzzy 0.825, 17 fuzzy 0.0145'],
  ['process', '14 fuzzy 0.6354'],
  ['good process excellence', '14 fuzzy 0.8234'],
  ['who can do data entry', '16 fuzzy 0.8402, 17 fuzzy 0.0151'],
  ['follow up', '15 exact 0.9302'],
  ['follow', '15 fuzzy 0.7019'],
  ['up', ''],
  ['the of', ''],
  ['at welding', '1 alias 0.8578, 3 semantic 0.0261, 2 fuzzy 0.0261'],
  ['at', ''],
  // Words about the applicant.
  ['hardworking electrician', '18 alias 0.7912'],
  ['full time electrician', '18 alias 0.7912'],
  ['12th pass electrician', '18 alias 0.7912'],
  ['electrician 25k', '18 fuzzy 0.4268'],
  ['immediate', ''],
  // A phrase of one word and a label with its synonym.
  ['welding braze', '3 fuzzy 0.8476, 1 semantic 0.0222, 2 semantic 0.022'],
  ['supervise', '4 fuzzy 0.499, 5 fuzzy 0.0752, 15 semantic 0.007'],
  ['service', '6 fuzzy 0.6378'],
  ['client', '6 fuzzy 0.6666'],
  // Long phrases.
  [
    'arc welding and gas welding and brazing and manage staff and manage budgets and data entry and typing and house wiring',
    '2 semantic 0.2328, 1 semantic 0.1079, 3 semantic 0.0625',
  ],
]

test('each rule has its effect on the skills, the methods and the scores', () => {
  const scoredIndex = buildSkillIndexSync(scoredSkills)
  for (const [phrase, matches] of SCORED_PHRASES) {
    const found = scoredIndex.match(phrase, 3).map(({ number, method, score }) => `${number} ${method} ${score}`)
    assert.equal(found.join(', '), matches, phrase)
  }
})
