import assert from 'node:assert/strict'
import { test } from 'node:test'
import { type CheckedItem, checkItem, type ItemCheck } from './checks.ts'
import { findDuplicates } from './near-duplicates.ts'
import { contentWords } from './text.ts'

const validItem: CheckedItem = {
  stem: 'You have to weld a bracket onto a drum that once held thinner. What do you do first?',
  options: [
    'Have it cleaned and tested for vapour',
    'Open the lid and stand to one side',
    'Wet the outside and use short runs',
    'Lower the current and use a thin rod',
  ],
  key: 0,
  language: 'en',
}

const validHindiItem: CheckedItem = {
  stem: 'आपको एक ऐसे ड्रम पर ब्रैकेट लगाना है जिसमें पहले थिनर रखा था। सबसे पहले क्या करेंगे?',
  options: [
    'साफ़ करवाकर भाप की जाँच करवाएँगे',
    'ढक्कन खोलकर बाहर से वेल्ड करेंगे',
    'बाहर से गीला करके वेल्ड करेंगे',
    'करंट कम करके पतली रॉड लेंगे',
  ],
  key: 0,
  language: 'hi',
}

const withOption = (position: number, option: string, item = validItem): CheckedItem => ({
  ...item,
  options: item.options.map((original, index) => (index === position ? option : original)),
})

test('valid items pass the checks', () => {
  assert.deepEqual(
    checkItem(withOption(0, 'Have it cleaned and tested for vapour here')),
    [],
    'up to 1.3 times the mean length of the distractors',
  )
  assert.deepEqual(checkItem(validItem), [])
  assert.deepEqual(checkItem(validHindiItem), [])
  assert.deepEqual(checkItem({ ...validItem, options: ['350', '500', '250', '800'], key: 1 }), [])
})

const invalidItems: [what: string, check: ItemCheck, item: CheckedItem][] = [
  ['three options', 'four different options', { ...validItem, options: validItem.options.slice(0, 3) }],
  [
    'five options',
    'four different options',
    { ...validItem, options: [...validItem.options, 'Call the welder next door'] },
  ],
  ['the same option twice', 'four different options', withOption(2, 'open the lid,  and stand to one side.')],
  ['a key out of range', 'one key', { ...validItem, key: 4 }],
  ['no key', 'one key', { ...validItem, key: Number.NaN }],
  ['all of the above', 'all or none of the above', withOption(3, 'All of the above are right here')],
  ['none of these', 'all or none of the above', withOption(3, 'None of these is right at this point')],
  ['both A and B', 'all or none of the above', withOption(3, 'Both A and B, one after the other')],
  ['इनमें से कोई नहीं', 'all or none of the above', withOption(3, 'इनमें से कोई नहीं है यहाँ', validHindiItem)],
  ['always', 'absolute word', withOption(1, 'Always open the lid before work')],
  ['100 %', 'absolute word', withOption(1, 'Open the lid when 100 % dry inside')],
  ['हमेशा', 'absolute word', withOption(1, 'हमेशा बाहर से ही वेल्ड करेंगे', validHindiItem)],
  ['सिर्फ़ without its nukta', 'absolute word', withOption(1, 'सिर्फ बाहर से ही वेल्ड करेंगे', validHindiItem)],
  ['a long key', 'key longest by far', withOption(0, 'Have it cleaned and tested for vapour by a competent person')],
  [
    'a key of 1.33 times the others',
    'key longest by far',
    withOption(0, 'Have it cleaned and tested for vapour by a man'),
  ],
  ['one option much shorter', 'options of one length', withOption(1, 'Open the lid')],
  ['a very long option', 'options of one length', withOption(1, 'Open it '.repeat(14).trim())],
  ['a word of the stem only in the key', 'key echoes the stem', withOption(0, 'Have the drum cleaned of vapour')],
  [
    'another form of a stem word only in the key',
    'key echoes the stem',
    withOption(0, 'Have it cleaned before any welding'),
  ],
  ['a word of the skill only in the key', 'key echoes the stem', { ...validItem, about: 'Vapour testing' }],
  ['a number only in the key', 'options of one kind', withOption(0, 'Have it rinsed and tested 2 times')],
  ['one option with a full stop', 'options of one kind', withOption(1, 'Open the lid and stand to one side.')],
  ['a line break', 'options of one kind', withOption(1, 'Open the lid\nand stand to one side')],
  ['a direction character', 'options of one kind', withOption(1, 'Open the lid \u202eand stand to one side')],
  ['which is not', 'negative stem', { ...validItem, stem: 'Which of these is not done before such a drum is heated?' }],
  ['except', 'negative stem', { ...validItem, stem: 'What do you do before such a job, except signing in?' }],
  ['क्या नहीं', 'negative stem', { ...validHindiItem, stem: 'ऐसे ड्रम पर काम से पहले क्या नहीं करना चाहिए?' }],
  ['no question mark', 'stem', { ...validItem, stem: 'You have to weld a bracket onto a drum.' }],
  ['too short', 'stem', { ...validItem, stem: 'What do you do?' }],
  ['too long', 'stem', { ...validItem, stem: `${'The lid is on. '.repeat(15)}What do you do first?` }],
  [
    'a reference to text that is not shown',
    'stem',
    { ...validItem, stem: 'Which of the following is done first of them here?' },
  ],
  [
    'a pronoun for a person who is not named',
    'stem',
    { ...validItem, stem: 'He has to weld a bracket onto a drum. What is done first?' },
  ],
  ['वह', 'stem', { ...validHindiItem, stem: 'वह एक ड्रम पर ब्रैकेट लगाना चाहता है। सबसे पहले क्या करेंगे?' }],
  [
    'a long sentence',
    'reading level',
    { ...validItem, stem: `${'so the man said that it was '.repeat(5)}and what is next?` },
  ],
  [
    'long words',
    'reading level',
    {
      ...validItem,
      stem: 'Which organisational consideration predominantly characterises hazardous contamination remediation?',
    },
  ],
  ['another language', 'language', { ...validHindiItem, stem: validItem.stem }],
]

for (const [description, check, item] of invalidItems) {
  test(`${check}: ${description}`, () => {
    const failedChecks = checkItem(item).map((finding) => finding.check)
    assert.ok(failedChecks.includes(check), `found ${failedChecks.join(', ') || 'nothing'}`)
  })
}

test('items that only resemble a violation pass the checks', () => {
  const stems = [
    'The motor does not start after lunch. What do you look at first?',
    'What do you do if the rod does not strike an arc?',
    'Which of these is NOT done before such a drum is heated?',
    'Why should you not stand in front of the lid here?',
  ]
  for (const stem of stems) assert.deepEqual(checkItem({ ...validItem, stem }), [], stem)
  assert.deepEqual(checkItem({ ...validHindiItem, stem: 'मोटर चालू नहीं हो रही है। सबसे पहले क्या देखेंगे?' }), [])
  assert.deepEqual(checkItem(withOption(3, 'Hold both the ends and use a thin rod')), [])
  // The name of a skill may be long and consist of uncommon words.
  const skillName = 'Electroencephalography instrumentation and polysomnography'
  assert.deepEqual(checkItem({ ...validItem, about: skillName, stem: `Which of these is part of ${skillName}?` }), [])
})

test('a reworded question is detected as a duplicate', () => {
  const rewordedItem = {
    stem: 'You have to weld a bracket to a drum that held thinner. What is to be done first?',
    options: validItem.options.toReversed(),
  }
  const otherItem = {
    stem: validItem.stem.replace('weld', 'lift'),
    options: ['By hand', 'By crane', 'By jack', 'By rope'],
  }
  assert.deepEqual(
    findDuplicates([validItem, otherItem, rewordedItem]).map(({ firstIndex, secondIndex }) => [
      firstIndex,
      secondIndex,
    ]),
    [[0, 2]],
  )
})

const pool: CheckedItem = {
  stem: 'A damp rod leaves small round holes along the bead. What do you note?',
  options: ['Porosity', 'Undercut', 'Slag inclusion', 'Burn-through', 'Cold lap', 'Arc strike on the plate'],
  key: 0,
  language: 'en',
  isPooled: true,
}

test('options of a pool may differ in form, because each of them is once the key', () => {
  for (const key of [0, 2, 5]) assert.deepEqual(checkItem({ ...pool, key }), [], pool.options[key])
  const failedChecks = checkItem({ ...pool, options: pool.options.with(1, 'porosity') }).map(({ check }) => check)
  assert.deepEqual(failedChecks, ['four different options'])
  assert.deepEqual(
    checkItem({ ...pool, key: 6 }).map(({ check }) => check),
    ['one key'],
  )
})

test('the key of a pool echoes the stem if three distractors without the word can be shown', () => {
  const stem = 'You see holes in a lap weld after a cold start. What do you note?'
  const echoes = (options: string[]) => checkItem({ ...pool, stem, options, key: 4 }).map(({ check }) => check)
  assert.deepEqual(echoes([...pool.options]), ['key echoes the stem'])
  assert.deepEqual(echoes(['Cold crack', 'Cold start', 'Slag inclusion', 'Burn-through', 'Cold joint', 'Arc strike']), [
    'key echoes the stem',
  ])
  assert.deepEqual(echoes(['Cold crack', 'Cold start', 'Cold slag', 'Burn-through', 'Cold joint', 'Arc strike']), [])
})

test('words of a text with thousands of combining characters are found in linear time', () => {
  const word = `कखग${'\u0301'.repeat(50_000)}1`
  const start = process.cpuUsage()
  assert.equal(contentWords(`${word} ${'ख'.repeat(3)}${'\u0301'.repeat(50)}`).size, 2)
  const { user, system } = process.cpuUsage(start)
  // With quadratic time, this would take many seconds.
  assert.ok((user + system) / 1_000_000 < 5)
})
