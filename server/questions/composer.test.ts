import assert from 'node:assert/strict'
import { before, test } from 'node:test'
import { builtInCatalogue } from '../../test/support/question-catalogue.ts'
import { Bank } from './bank/bank.ts'
import { BuiltInWriter } from './built-in-writer.ts'
import { isDistinctSynonym, revealsName, tasksOf } from './phrases.ts'
import type { Item } from './questions.ts'
import { contentWords } from './text.ts'

const verbs = new Set(['welds', 'removes', 'marks', 'cuts', 'opens', 'greets', 'weighs', 'mixes', 'sets', 'tests'])

const descriptions: [what: string, description: string, tasks: string[][]][] = [
  [
    'two tasks',
    'Welds with tubular wire, with or without gas, and removes the slag between runs.',
    [['Welds with tubular wire, with or without gas', 'Welds with tubular wire'], ['Removes the slag between runs']],
  ],
  [
    'a task that is too short',
    'Welds thin sheet on both sides and tests the part.',
    [['Welds thin sheet on both sides', 'Welds thin sheet']],
  ],
  ['verbs alone', 'Weighs, mixes, greets.', []],
  ['a verb without an object', 'Opens the doors of the lobby, greets', []],
  [
    'a reference to another task',
    'Welds the frames of gates and marks the points from them.',
    [['Welds the frames of gates']],
  ],
  [
    'a clause that would be cut in the middle',
    'Sets the rollers so that the sheets run one by one in the long feeder of a press.',
    [],
  ],
]

for (const [title, description, tasks] of descriptions) {
  test(`the tasks of a description: ${title}`, () => {
    const foundTasks = tasksOf(description, verbs)
    for (const [position, forms] of tasks.entries())
      assert.deepEqual(foundTasks[position]?.slice(0, 1), forms.slice(0, 1))
    assert.equal(foundTasks.length, tasks.length, JSON.stringify(foundTasks))
  })
}

test('paired phrases are not cut', () => {
  const forms = (description: string) => tasksOf(description, verbs).flat()
  const [stepwise, wide] = [
    'Welds long seams of gates step by step on site',
    'Opens and cleans cupboards from top to bottom',
  ]
  for (const form of forms(stepwise)) assert.doesNotMatch(form, /gates step$/)
  for (const form of forms(wide)) assert.doesNotMatch(form, /from top$/)
})

test('a synonym that contains the name is rejected', () => {
  for (const [synonym, name] of [
    ['plating', 'Electroplating'],
    ['QGIS', 'GIS mapping'],
    ['RCA IT', 'IT incident management'],
    ['ITR', 'Income tax return filing'],
    ['हाइड्रोपोनिक्स', 'Hydroponics'],
  ] as const)
    assert.equal(isDistinctSynonym(synonym, name), false, synonym)
  for (const [synonym, name] of [
    ['honey sucker', 'Septic tank desludging'],
    ['CHA executive', 'Customs clearance'],
  ] as const)
    assert.equal(isDistinctSynonym(synonym, name), true, synonym)
})

/** Every 14th catalogue skill without bank items is tested, so that all trades are covered. */
const SAMPLING_INTERVAL = 14
let composed: { name: string; field: string; trade: string; items: Item[] }[]
before(async () => {
  const catalogue = await builtInCatalogue()
  const writer = new BuiltInWriter(catalogue)
  const bankSkills = new Set((await Bank.read()).skillNumbers)
  const skillsOutsideBank = catalogue.current.skills.filter(({ number }) => !bankSkills.has(number))
  composed = []
  for (const skill of skillsOutsideBank.filter((_, index) => index % SAMPLING_INTERVAL === 0)) {
    const context = { role: 'Fitter', company: 'Metro Ltd' }
    const request = { skills: [{ skill, count: 6 }], context, language: 'en' as const, seed: `c ${skill.number}` }
    const { items } = await writer.writeItems(request)
    composed.push({ name: skill.name, field: skill.sub.name, trade: skill.sub.master.name, items })
  }
})

test('two options of a composed item share at most half of their words', () => {
  for (const { name, items } of composed) {
    for (const { options, stem } of items) {
      const wordsByOption = options.map((option) => [...contentWords(option)])
      for (const [index, optionWords] of wordsByOption.entries()) {
        for (const otherWords of wordsByOption.slice(index + 1)) {
          const sharedCount = optionWords.filter((word) => otherWords.includes(word)).length
          assert.ok(
            sharedCount <= Math.min(optionWords.length, otherWords.length) / 2,
            `${name}: ${stem}: ${options.join(' | ')}`,
          )
        }
      }
    }
  }
})

test('no key starts like the name of the skill', () => {
  for (const { name, items } of composed) {
    for (const { options, key } of items) assert.ok(!revealsName(options[key], name), `${name}: ${options[key]}`)
  }
})

test('a stem is rarely repeated in a row', () => {
  const repetitiveSkills = composed.filter(({ items }) => {
    const stems = items.map(({ stem }) => stem.replace(/^.*?Metro Ltd\. /, ''))
    return stems.filter((stem, index) => stem === stems[index - 1]).length > 2
  })
  // If most keys share a word with one stem, only the other stem can be used.
  assert.ok(repetitiveSkills.length <= composed.length / 50, repetitiveSkills.map(({ name }) => name).join(', '))
})

test('one question does not reveal the key of another one', () => {
  for (const { name, field, trade, items } of composed) {
    const stems = items.map(({ stem }) => stem).join('\n')
    for (const { kind, options, key } of items) {
      const revealedName = kind.endsWith(' field') ? field : kind.endsWith(' trade') ? trade : undefined
      if (revealedName) assert.ok(!stems.includes(`“${revealedName}”`), `${name}: ${options[key]}`)
    }
  }
})

test('the length and the position of the key do not reveal it', (t) => {
  const items = composed.flatMap((skill) => skill.items)
  const shareOfItems = (holds: (lengths: number[], key: number) => boolean) =>
    items.filter(({ options, key }) =>
      holds(
        options.map((option) => option.length),
        key,
      ),
    ).length / items.length
  const longestKeyShare = shareOfItems((lengths, key) =>
    lengths.every((length, index) => index === key || length < lengths[key]!),
  )
  const shortestKeyShare = shareOfItems((lengths, key) =>
    lengths.every((length, index) => index === key || length > lengths[key]!),
  )
  const positionShares = [0, 1, 2, 3].map(
    (position) => items.filter(({ key }) => key === position).length / items.length,
  )
  t.diagnostic(
    `${items.length} items: longest ${longestKeyShare.toFixed(2)}, shortest ${shortestKeyShare.toFixed(2)}, positions ${positionShares.map((part) => part.toFixed(2))}`,
  )
  assert.ok(longestKeyShare < 0.28, `share of items whose key is the longest option: ${longestKeyShare.toFixed(2)}`)
  assert.ok(shortestKeyShare < 0.28, `share of items whose key is the shortest option: ${shortestKeyShare.toFixed(2)}`)
  for (const part of positionShares) assert.ok(part > 0.19 && part < 0.31, `positions ${positionShares.join(', ')}`)
})
