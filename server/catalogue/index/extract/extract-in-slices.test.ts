import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { FIRST_IMPORTED_NUMBER } from '../labels/labels.ts'
import { buildSkillIndexSync } from '../skill-index.ts'

const names = [
  'Manage inventory',
  'Repair engines',
  'Repair pumps',
  'Prepare reports',
  'Train staff',
  'Supervise apprentices',
  'Welding',
  'Plumbing',
  'Data entry',
]
/** The score of a built-in skill depends on whether the text mentions other skills of the same groups. */
const subSkills = ['Stock', 'Machines', 'Offices'].map((name, i) => ({
  number: i + 1,
  name,
  master: { number: i + 1 },
}))
const objects = [
  ...['engines', 'pumps', 'bicycles', 'violins', 'boilers', 'lifts', 'trucks', 'tractors', 'ovens', 'printers'],
  ...['cranes', 'turbines', 'batteries', 'cameras', 'furnaces', 'mixers', 'scanners', 'drills', 'boats', 'gates'],
]

/** Returns a text with sentences about an object. Most of its clauses are in no other text, and not all texts have the same order. */
function textAbout(object: string, i: number): string {
  const sentences = [
    `Experience in managing the stock of ${object} ${['is required', 'would be an advantage', 'is not required'][i % 3]}.`,
    `Experience in preparing reports about ${object} would be an advantage.`,
    `You will repair the ${object} of our customers${i % 2 ? ' after hours' : ''}.`,
    `You do not need to supervise apprentices who build ${object}.`,
    `Your tasks include training the staff to handle ${object}, and ${['welding', 'plumbing', 'data entry'][i % 3]}.`,
  ]
  const first = i % sentences.length
  return [...sentences.slice(first), ...sentences.slice(0, first)].join(' ')
}

const texts = objects.map(textAbout)

for (const [catalogue, firstNumber] of [
  ['built-in', 1],
  ['imported', FIRST_IMPORTED_NUMBER],
] as const)
  test(`texts that are extracted at the same time have the same skills as one after the other (${catalogue} skills)`, async () => {
    const skills = names.map((name, i) => ({ number: firstNumber + i, name, aliases: [], sub: subSkills[i % 3]! }))
    const index = buildSkillIndexSync(skills)
    let finishedCount = 0
    const extractions = texts.map(async (text) => {
      // Slices of 0 ms end after each clause, so that the texts take turns.
      const extractedSkills = await index.extractInSlices(text, 25, 0)
      finishedCount++
      return extractedSkills
    })
    // Each text has at least three new clauses, so all are still being extracted after two turns of the event loop.
    for (let turn = 0; turn < 2; turn++) await nextTurn()
    assert.equal(finishedCount, 0)
    const extractedSkills = await Promise.all(extractions)

    const otherIndex = buildSkillIndexSync(skills)
    const expectedSkills = texts.map((text) => otherIndex.extract(text))
    assert.deepEqual(extractedSkills, expectedSkills)
    for (const found of expectedSkills) assert.ok(found.length >= 2)
    // Requirements depend on the words around a clause.
    assert.deepEqual([...new Set(expectedSkills.flat().map(({ requirement }) => requirement))].sort(), [
      'not_required',
      'preferred',
      'required',
    ])
  })
