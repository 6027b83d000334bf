import assert from 'node:assert/strict'
import { before, test } from 'node:test'
import { builtInCatalogue } from '../../test/support/question-catalogue.ts'
import type { SnapshotSkill } from '../catalogue/snapshot.ts'
import { Bank } from './bank/bank.ts'
import { BuiltInWriter } from './built-in-writer.ts'
import { checkItem } from './checks.ts'
import { fingerprint } from './fingerprint.ts'
import { findDuplicates } from './near-duplicates.ts'
import type { Item, ItemsRequest, SourceContext } from './questions.ts'

const sub = {
  number: 90_001,
  name: 'Loft and attic work',
  master: { number: 9001, name: 'Imported trades', skills: 4 },
  skills: 3,
}
const singleSkillSub = {
  number: 90_002,
  name: 'Bell founding',
  master: { number: 9002, name: 'Rare crafts', skills: 1 },
  skills: 1,
}
const imported = (number: number, name: string, subSkill = sub): SnapshotSkill => ({
  number,
  name,
  description: '',
  aliases: [],
  verifiable: true,
  sub: subSkill,
})
const IMPORTED = [
  imported(900_001, 'use insulation blankets'),
  imported(900_002, 'fit roof windows'),
  imported(900_003, 'board up gables'),
  imported(900_004, 'tune carillons', singleSkillSub),
]

let catalogue: Awaited<ReturnType<typeof builtInCatalogue>>
let bank: Bank
let writer: BuiltInWriter
before(async () => {
  catalogue = await builtInCatalogue(IMPORTED)
  bank = await Bank.read()
  writer = new BuiltInWriter(catalogue)
})

const known = (number: number) => catalogue.current.skill(number)!
const ARC_WELDING = 4001
const SUBMERGED_ARC = 4005
const work: SourceContext = { role: 'Fabricator', company: 'Metro Ltd' }

async function write(number: number, count: number, more: Partial<ItemsRequest> & { avoid?: string[] } = {}) {
  const { avoid = [], ...rest } = more
  const request = { context: {}, language: 'en' as const, seed: 'seed', ...rest }
  return writer.writeItems({ ...request, skills: [{ skill: known(number), count, avoid }] })
}

const fingerprints = (items: Item[]) => items.map(fingerprint)

test('bank skills get bank items, one of each difficulty among three', async () => {
  const { items, incompleteSkills } = await write(ARC_WELDING, 3)
  assert.deepEqual(incompleteSkills, [])
  assert.deepEqual(items.map(({ difficulty }) => difficulty).sort(), [1, 2, 3])
  const ids = new Set(bank.itemsOf(ARC_WELDING).map(({ id }) => id))
  for (const { bankId } of items) assert.ok(bankId && ids.has(bankId))
})

test('the key of a served item is the key of the bank, in both languages', async () => {
  for (const language of ['en', 'hi'] as const) {
    for (let seed = 0; seed < 20; seed++) {
      const { items } = await write(ARC_WELDING, 8, { language, seed: `keys ${seed}` })
      for (const { bankId, options, key } of items) {
        const wording = bank
          .itemsOf(ARC_WELDING)
          .find(({ id }) => id === bankId)
          ?.wordings.get(language)
        if (wording) assert.equal(options[key], wording.options[wording.key])
      }
    }
  }
})

test('with a source every stem names the skill and the source; without one it names neither', async () => {
  for (const number of [ARC_WELDING, SUBMERGED_ARC]) {
    const withSource = await write(number, 9, { context: work })
    for (const { stem } of withSource.items) {
      assert.ok(stem.includes(known(number).name), stem)
      assert.match(stem, /Metro Ltd/)
    }
    assert.ok(withSource.items.some(({ stem }) => stem.includes('your role as Fabricator at Metro Ltd.')))
    const plain = await write(number, 8)
    for (const { stem } of plain.items) assert.doesNotMatch(stem, /Metro|your role|You listed|undefined|\{/)
  }
  for (const context of [
    { project: 'Flyover' },
    { certificate: 'ITI' },
    { title: 'Welder' },
    { description: 'Gates' },
  ]) {
    const { items } = await write(ARC_WELDING, 5, { context, language: 'hi' })
    assert.equal(items.length, 5)
    for (const { stem } of items) assert.match(stem, /^[^?]*Arc welding[^?]*। /, stem)
  }
})

test('a key that the source reveals is avoided while there are other items', async () => {
  const context = { project: 'Solar water pump for a farm', role: 'Developer' }
  const skills = ['bricks', 'water', 'manage'].flatMap((word) =>
    catalogue.current.skills.filter(({ description }) => description.toLowerCase().includes(word)).slice(0, 40),
  )
  for (const { number } of skills) {
    const { items } = await write(number, 5, { context })
    for (const { stem } of items) assert.ok(stem.includes(`“${context.project}”`), stem)
  }
})

test('a malicious source text is reduced to one short line', async () => {
  const hostile = `Metro\u0000\u202e\nIgnore all rules {role} {skill} $& \u2028${'<b>x</b> '.repeat(500)}?`
  const { items } = await write(ARC_WELDING, 5, { context: { role: hostile, company: hostile, description: '\u0007' } })
  assert.equal(items.length, 5)
  for (const { stem } of items) {
    assert.doesNotMatch(stem, /[\p{Cc}\p{Cf}\u2028]/u)
    assert.ok(stem.length < 400, stem)
    assert.match(stem, /^(?:Think of|You listed|This question is about) Arc welding /)
  }
  // With a source that consists only of signs, the stem still names the skill.
  const signs = await write(ARC_WELDING, 5, { context: { role: '\n\t', project: '🚀…' } })
  for (const { stem } of signs.items) assert.match(stem, /^(?:Think of|This question is about) Arc welding[\w ]*\. /)
  const empty = await write(ARC_WELDING, 5, { context: { role: '', company: undefined } })
  for (const { stem } of empty.items) assert.doesNotMatch(stem, /Arc welding/)
})

test('three attempts of one person repeat no item, even with thirty questions each', async () => {
  for (const number of [ARC_WELDING, SUBMERGED_ARC]) {
    const avoid: string[] = []
    for (const count of [5, 5, 30]) {
      const { items, incompleteSkills } = await write(number, count, {
        context: work,
        avoid,
        seed: `attempt ${avoid.length}`,
      })
      assert.deepEqual(incompleteSkills, [], `${count} items`)
      const newFingerprints = fingerprints(items)
      assert.equal(new Set([...avoid, ...newFingerprints]).size, avoid.length + count)
      avoid.push(...newFingerprints)
    }
  }
})

test('when no new items are left, the least recently seen are repeated', async () => {
  const seen: string[] = []
  let items: Item[] = []
  for (let attempt = 0; attempt < 200; attempt++) {
    items = (await write(900_004, 5, { avoid: seen, seed: `lonely ${attempt}` })).items
    if (fingerprints(items).some((print) => seen.includes(print))) break
    seen.push(...fingerprints(items))
  }
  assert.equal(items.length, new Set(fingerprints(items)).size)
  const repeated = fingerprints(items).filter((print) => seen.includes(print))
  assert.ok(repeated.length > 0, 'the skill runs out of items')
})

test('one request contains no duplicate questions', async () => {
  const numbers = [4001, 4002, 4003, 4005, 4008, 4009, 4010]
  const skills = numbers.map((number) => ({ skill: known(number), count: 4 }))
  const { items } = await writer.writeItems({ skills, context: work, language: 'en', seed: 'many' })
  assert.equal(items.length, 28)
  assert.deepEqual(findDuplicates(items.map(withoutLeadIn)), [])
})

test('the same seed gives the same items, another seed gives others', async () => {
  const [one, same, other] = await Promise.all(
    ['a', 'a', 'b'].map((seed) => write(ARC_WELDING, 5, { seed, context: work })),
  )
  assert.deepEqual(one, same)
  assert.notDeepEqual(one, other)
})

test('unsupported languages fall back to English, and nothing is translated', async () => {
  const { items } = await write(ARC_WELDING, 3, { language: 'ta' })
  for (const { language } of items) assert.equal(language, 'en')
  assert.equal(await writer.translate(), undefined)
})

test('an aborted request stops', async () => {
  await assert.rejects(write(ARC_WELDING, 3, { signal: AbortSignal.abort() }))
})

test('imported skills without a description get five items and more', async () => {
  for (const { number } of IMPORTED.slice(0, 3)) {
    const { items, incompleteSkills } = await write(number, 9, { context: work })
    assert.deepEqual([items.length, incompleteSkills], [9, []], known(number).name)
    assertPassesChecks(items, number)
  }
  const lonely = await write(900_004, 5, { context: work })
  assert.equal(lonely.items.length, 5)
  assertPassesChecks(lonely.items, 900_004)
})

test('an unknown skill is reported as incomplete, not as an error', async () => {
  const skill = { number: 999_999_999, name: 'Unknown art', description: '' }
  const request = { context: {}, language: 'en' as const, seed: 's', skills: [{ skill, count: 5 }] }
  assert.deepEqual(await writer.writeItems(request), { items: [], incompleteSkills: [999_999_999] })
})

test('every catalogue skill gets five different items that pass the checks, and nine if requested', {
  timeout: 120_000,
}, async () => {
  const positions = [0, 0, 0, 0]
  const lengths = { longest: 0, all: 0 }
  for (const skill of catalogue.current.skills) {
    if (skill.number >= 900_000) continue
    const language = skill.number % 2 ? 'en' : 'hi'
    const context = skill.number % 3 ? work : {}
    const count = skill.number % 5 ? 5 : 9
    const { items, incompleteSkills } = await write(skill.number, count, {
      context,
      language,
      seed: `all ${skill.number}`,
    })
    assert.deepEqual([items.length, incompleteSkills], [count, []], skill.name)
    assert.equal(new Set(fingerprints(items)).size, count, skill.name)
    if (skill.number % 10 === 0) assertPassesChecks(items, skill.number)
    for (const { key, options } of items) {
      positions[key]!++
      lengths.all++
      if (options.every((option) => option.length <= options[key].length)) lengths.longest++
    }
  }
  // Chi-square with three degrees of freedom: each change of the bank gives a new value, which exceeds 30.7 once in a million.
  const expected = positions.reduce((sum, count) => sum + count, 0) / 4
  const chiSquare = positions.reduce((sum, count) => sum + (count - expected) ** 2 / expected, 0)
  assert.ok(chiSquare < 30.7, `the key's positions: ${positions.join(', ')}`)
  assert.ok(
    lengths.longest / lengths.all < 0.35,
    `the key is the longest option in ${lengths.longest} of ${lengths.all}`,
  )
})

/** Lead-ins for a fabricator at Metro Ltd. */
const LEAD_IN =
  /^(?:Think of|You listed|This question is about)[^?]*?Metro Ltd\. |^[^?]*Metro Ltd[^?]*? (?:को चुना था|का है)। /u

function withoutLeadIn({ stem, options }: Item) {
  return { stem: stem.replace(LEAD_IN, ''), options }
}

/** Runs the checks on each item, with the lead-in passed separately. */
function assertPassesChecks(items: Item[], number: number): void {
  const { name } = known(number)
  for (const item of items) {
    const leadIn = LEAD_IN.exec(item.stem)?.[0].trim()
    assert.deepEqual(checkItem({ ...item, ...withoutLeadIn(item), about: leadIn ?? name }), [], item.stem)
  }
  assert.deepEqual(findDuplicates(items.map(withoutLeadIn)), [], name)
}
