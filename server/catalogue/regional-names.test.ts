import assert from 'node:assert/strict'
import { test } from 'node:test'
import { parseBuiltInCatalogue, readBuiltInCatalogueFiles } from './built-in.ts'
import { regionalNames, tradeTerms } from './index/lexicon/lexicon.ts'
import { buildSkillIndexSync } from './index/skill-index.ts'
import { tokenize } from './index/text/tokens.ts'

const { skills } = parseBuiltInCatalogue(await readBuiltInCatalogueFiles())
const index = buildSkillIndexSync(skills.map((skill) => ({ ...skill, number: skill.number! })))

/** Skills with common words for them, separated by commas. */
const WORDS_BY_SKILL: Record<string, string> = {
  'Ladies suit tailoring': 'thaiyal velai, kuttu pani, dorji, shivankam, holige, தையல்',
  'Home cooking service': 'samayal, vanta pani, rannar kaj, swayampak, aduge, சமையல், వంట పని',
  Carpentry: 'thachan, vadrangi, chutor mistri, sutarkam, badagi, suthar, వడ్రంగి',
  Bricklaying: 'kothanar, tapi mestri, gavandi, kadiya, রাজমিস্ত্রি',
  'House plumbing': 'kuzhai velai, koler mistri, nalkam, nalli kelasa',
  'House wiring': 'minsara velai, current pani, bidyut mistri, vijli kam, veej tantri',
  'General farm work': 'vivasayam, chashi, khetibari',
  'Car driving': 'ottunar, chalaka',
}

test('each line of regional-names.txt and trade-terms.txt is about a skill of the built-in catalogue', () => {
  const names = new Set(skills.map(({ name }) => tokenize(name).join(' ')))
  assert.deepEqual(
    [...regionalNames().keys(), ...tradeTerms().keys()].filter((name) => !names.has(name)),
    [],
  )
})

test('search, match and extract find skills by the names of tools and tasks, which are no names of another skill', () => {
  const otherNames = new Map(
    skills.flatMap(({ name, aliases }) => [name, ...aliases].map((label) => [tokenize(label).join(' '), name])),
  )
  for (const [term, name] of Object.entries({
    poclain: 'Excavator operation',
    'pool vacuum': 'Swimming pool cleaning',
    'वॉशिंग मशीन': 'Washing machine repair',
  })) {
    assert.equal(index.search(term, { limit: 1 }).skills[0]?.name, name, `search ${term}`)
    assert.equal(index.match(term, 1)[0]?.name, name, `match ${term}`)
    assert.equal(index.extract(`Needed: ${term}`)[0]?.name, name, `extract ${term}`)
  }
  const ambiguousTerms = [...tradeTerms().values()].flat().filter((term) => otherNames.has(term))
  assert.deepEqual(ambiguousTerms, [])
})

test('search and match find trades by their names in the languages of India, in both scripts', () => {
  for (const [name, words] of Object.entries(WORDS_BY_SKILL)) {
    for (const word of words.split(', ')) {
      assert.equal(index.search(word, { limit: 1 }).skills[0]?.name, name, `search ${word}`)
      assert.equal(index.match(word, 1)[0]?.name, name, `match ${word}`)
    }
  }
})

test('words of other languages do not become mentions of an English text', () => {
  const text =
    'We are hiring graduates for our office in Pune. Good salary, a friendly team, a garden and a hot kitchen.'
  const names = index.extract(text).map(({ name }) => tokenize(name).join(' '))
  assert.deepEqual(
    names.filter((name) => regionalNames().has(name)),
    [],
  )
})
