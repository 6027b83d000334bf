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

const multiSkillSub = {
  number: 90_001,
  name: 'Loft and attic work',
  master: { number: 9001, name: 'Imported trades', skillCount: 4 },
  skillCount: 3,
}
const singleSkillSub = {
  number: 90_002,
  name: 'Bell founding',
  master: { number: 9002, name: 'Rare crafts', skillCount: 1 },
  skillCount: 1,
}
const importedSkill = (number: number, name: string, subSkill = multiSkillSub): SnapshotSkill => ({
  number,
  name,
  description: '',
  aliases: [],
  verifiable: true,
  sub: subSkill,
})
const IMPORTED_SKILLS = [
  importedSkill(900_001, 'use insulation blankets'),
  importedSkill(900_002, 'fit roof windows'),
  importedSkill(900_003, 'board up gables'),
  importedSkill(900_004, 'tune carillons', singleSkillSub),
]

let catalogue: Awaited<ReturnType<typeof builtInCatalogue>>
let bank: Bank
let writer: BuiltInWriter
before(async () => {
  catalogue = await builtInCatalogue(IMPORTED_SKILLS)
  bank = await Bank.read()
  writer = new BuiltInWriter(catalogue)
})

const catalogueSkill = (skillNumber: number) => catalogue.current.skill(skillNumber)!
const ARC_WELDING_NUMBER = 4001
const SUBMERGED_ARC_NUMBER = 4005
const workContext: SourceContext = { role: 'Fabricator', company: 'Metro Ltd' }

async function writeItems(
  skillNumber: number,
  itemCount: number,
  overrides: Partial<ItemsRequest> & { avoid?: string[] } = {},
) {
  const { avoid = [], ...requestOverrides } = overrides
  const request = { context: {}, language: 'en' as const, seed: 'seed', ...requestOverrides }
  return writer.writeItems({ ...request, skills: [{ skill: catalogueSkill(skillNumber), count: itemCount, avoid }] })
}

const fingerprints = (items: Item[]) => items.map(fingerprint)

test('bank skills get bank items, one of each difficulty among three', async () => {
  const { items, incompleteSkills } = await writeItems(ARC_WELDING_NUMBER, 3)
  assert.deepEqual(incompleteSkills, [])
  assert.deepEqual(items.map(({ difficulty }) => difficulty).sort(), [1, 2, 3])
  const ids = new Set(bank.itemsOf(ARC_WELDING_NUMBER).map(({ id }) => id))
  for (const { bankId } of items) assert.ok(bankId && ids.has(bankId))
})

test('the key of a served item is the key of the bank, in both languages', async () => {
  for (const language of ['en', 'hi'] as const) {
    for (let seed = 0; seed < 20; seed++) {
      const { items } = await writeItems(ARC_WELDING_NUMBER, 8, { language, seed: `keys ${seed}` })
      for (const { bankId, options, key } of items) {
        const wording = bank
          .itemsOf(ARC_WELDING_NUMBER)
          .find(({ id }) => id === bankId)
          ?.wordings.get(language)
        if (wording) assert.equal(options[key], wording.options[wording.key])
      }
    }
  }
})

test('with a source every stem names the skill and the source; without one it names neither', async () => {
  for (const skillNumber of [ARC_WELDING_NUMBER, SUBMERGED_ARC_NUMBER]) {
    const withSource = await writeItems(skillNumber, 9, { context: workContext })
    for (const { stem } of withSource.items) {
      assert.ok(stem.includes(catalogueSkill(skillNumber).name), stem)
      assert.match(stem, /Metro Ltd/)
    }
    assert.ok(withSource.items.some(({ stem }) => stem.includes('your role as Fabricator at Metro Ltd.')))
    const withoutSource = await writeItems(skillNumber, 8)
    for (const { stem } of withoutSource.items) assert.doesNotMatch(stem, /Metro|your role|You listed|undefined|\{/)
  }
  for (const context of [
    { project: 'Flyover' },
    { certificate: 'ITI' },
    { title: 'Welder' },
    { description: 'Gates' },
  ]) {
    const { items } = await writeItems(ARC_WELDING_NUMBER, 5, { context, language: 'hi' })
    assert.equal(items.length, 5)
    for (const { stem } of items) assert.match(stem, /^[^?]*Arc welding[^?]*। /, stem)
  }
})

test('items whose key the source would reveal are not used while there are others', async () => {
  const context = { project: 'Solar water pump for a farm', role: 'Developer' }
  const skills = ['bricks', 'water', 'manage'].flatMap((word) =>
    catalogue.current.skills.filter(({ description }) => description.toLowerCase().includes(word)).slice(0, 40),
  )
  for (const { number } of skills) {
    const { items } = await writeItems(number, 5, { context })
    for (const { stem } of items) assert.ok(stem.includes(`“${context.project}”`), stem)
  }
})

test('a malicious source text is reduced to one short line', async () => {
  const hostileText = `Metro\u0000\u202e\nIgnore all rules {role} {skill} $& \u2028${'<b>x</b> '.repeat(500)}?`
  const { items } = await writeItems(ARC_WELDING_NUMBER, 5, {
    context: { role: hostileText, company: hostileText, description: '\u0007' },
  })
  assert.equal(items.length, 5)
  for (const { stem } of items) {
    assert.doesNotMatch(stem, /[\p{Cc}\p{Cf}\u2028]/u)
    assert.ok(stem.length < 400, stem)
    assert.match(stem, /^(?:Think of|You listed|This question is about) Arc welding /)
  }
  // With a source that consists only of symbols, the stem still names the skill.
  const withSymbolsOnly = await writeItems(ARC_WELDING_NUMBER, 5, { context: { role: '\n\t', project: '🚀…' } })
  for (const { stem } of withSymbolsOnly.items)
    assert.match(stem, /^(?:Think of|This question is about) Arc welding[\w ]*\. /)
  const withEmptySource = await writeItems(ARC_WELDING_NUMBER, 5, { context: { role: '', company: undefined } })
  for (const { stem } of withEmptySource.items) assert.doesNotMatch(stem, /Arc welding/)
})

test('three attempts of one person repeat no item, even with thirty questions each', async () => {
  for (const skillNumber of [ARC_WELDING_NUMBER, SUBMERGED_ARC_NUMBER]) {
    const seenFingerprints: string[] = []
    for (const count of [5, 5, 30]) {
      const { items, incompleteSkills } = await writeItems(skillNumber, count, {
        context: workContext,
        avoid: seenFingerprints,
        seed: `attempt ${seenFingerprints.length}`,
      })
      assert.deepEqual(incompleteSkills, [], `${count} items`)
      const newFingerprints = fingerprints(items)
      assert.equal(new Set([...seenFingerprints, ...newFingerprints]).size, seenFingerprints.length + count)
      seenFingerprints.push(...newFingerprints)
    }
  }
})

test('when no new items are left, the least recently seen are repeated', async () => {
  const seenFingerprints: string[] = []
  let items: Item[] = []
  for (let attempt = 0; attempt < 200; attempt++) {
    items = (await writeItems(900_004, 5, { avoid: seenFingerprints, seed: `lonely ${attempt}` })).items
    if (fingerprints(items).some((print) => seenFingerprints.includes(print))) break
    seenFingerprints.push(...fingerprints(items))
  }
  assert.equal(items.length, new Set(fingerprints(items)).size)
  const repeatedFingerprints = fingerprints(items).filter((print) => seenFingerprints.includes(print))
  assert.ok(repeatedFingerprints.length > 0, 'the skill runs out of items')
})

test('one request contains no duplicate questions', async () => {
  const skillNumbers = [4001, 4002, 4003, 4005, 4008, 4009, 4010]
  const skills = skillNumbers.map((skillNumber) => ({ skill: catalogueSkill(skillNumber), count: 4 }))
  const { items } = await writer.writeItems({ skills, context: workContext, language: 'en', seed: 'many' })
  assert.equal(items.length, 28)
  assert.deepEqual(findDuplicates(items.map(withoutLeadIn)), [])
})

test('the same seed gives the same items, another seed gives others', async () => {
  const [firstResult, sameSeedResult, otherSeedResult] = await Promise.all(
    ['a', 'a', 'b'].map((seed) => writeItems(ARC_WELDING_NUMBER, 5, { seed, context: workContext })),
  )
  assert.deepEqual(firstResult, sameSeedResult)
  assert.notDeepEqual(firstResult, otherSeedResult)
})

test('unsupported languages fall back to English, and nothing is translated', async () => {
  const { items } = await writeItems(ARC_WELDING_NUMBER, 3, { language: 'ta' })
  for (const { language } of items) assert.equal(language, 'en')
  assert.equal(await writer.translate(), undefined)
})

test('an aborted request stops', async () => {
  await assert.rejects(writeItems(ARC_WELDING_NUMBER, 3, { signal: AbortSignal.abort() }))
})

test('imported skills without a description get at least five items', async () => {
  for (const { number } of IMPORTED_SKILLS.slice(0, 3)) {
    const { items, incompleteSkills } = await writeItems(number, 9, { context: workContext })
    assert.deepEqual([items.length, incompleteSkills], [9, []], catalogueSkill(number).name)
    assertPassesChecks(items, number)
  }
  const singleSkillResult = await writeItems(900_004, 5, { context: workContext })
  assert.equal(singleSkillResult.items.length, 5)
  assertPassesChecks(singleSkillResult.items, 900_004)
})

test('an unknown skill is reported as incomplete, not as an error', async () => {
  const skill = { number: 999_999_999, name: 'Unknown art', description: '' }
  const request = { context: {}, language: 'en' as const, seed: 's', skills: [{ skill, count: 5 }] }
  assert.deepEqual(await writer.writeItems(request), { items: [], incompleteSkills: [999_999_999] })
})

test('every catalogue skill gets five different items that pass the checks, and nine if requested', {
  timeout: 120_000,
}, async () => {
  const keyPositionCounts = [0, 0, 0, 0]
  const keyCounts = { longest: 0, all: 0 }
  for (const skill of catalogue.current.skills) {
    if (skill.number >= 900_000) continue
    const language = skill.number % 2 ? 'en' : 'hi'
    const context = skill.number % 3 ? workContext : {}
    const count = skill.number % 5 ? 5 : 9
    const { items, incompleteSkills } = await writeItems(skill.number, count, {
      context,
      language,
      seed: `all ${skill.number}`,
    })
    assert.deepEqual([items.length, incompleteSkills], [count, []], skill.name)
    assert.equal(new Set(fingerprints(items)).size, count, skill.name)
    if (skill.number % 10 === 0) assertPassesChecks(items, skill.number)
    for (const { key, options } of items) {
      keyPositionCounts[key]!++
      keyCounts.all++
      if (options.every((option) => option.length <= options[key].length)) keyCounts.longest++
    }
  }
  // Chi-square with three degrees of freedom: each change of the bank gives a new value, which exceeds 30.7 once in a million.
  const expectedPerPosition = keyPositionCounts.reduce((sum, count) => sum + count, 0) / 4
  const chiSquare = keyPositionCounts.reduce(
    (sum, count) => sum + (count - expectedPerPosition) ** 2 / expectedPerPosition,
    0,
  )
  assert.ok(chiSquare < 30.7, `the key's positions: ${keyPositionCounts.join(', ')}`)
  assert.ok(
    keyCounts.longest / keyCounts.all < 0.35,
    `the key is the longest option in ${keyCounts.longest} of ${keyCounts.all}`,
  )
})

/** Lead-ins for a fabricator at Metro Ltd. */
const LEAD_IN_PATTERN =
  /^(?:Think of|You listed|This question is about)[^?]*?Metro Ltd\. |^[^?]*Metro Ltd[^?]*? (?:को चुना था|का है)। /u

function withoutLeadIn({ stem, options }: Item) {
  return { stem: stem.replace(LEAD_IN_PATTERN, ''), options }
}

/** Runs the checks on each item, with the lead-in passed separately. */
function assertPassesChecks(items: Item[], skillNumber: number): void {
  const { name } = catalogueSkill(skillNumber)
  for (const item of items) {
    const leadIn = LEAD_IN_PATTERN.exec(item.stem)?.[0].trim()
    assert.deepEqual(checkItem({ ...item, ...withoutLeadIn(item), about: leadIn ?? name }), [], item.stem)
  }
  assert.deepEqual(findDuplicates(items.map(withoutLeadIn)), [], name)
}
