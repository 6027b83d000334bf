import { readdir, readFile } from 'node:fs/promises'
import { parseBuiltInCatalogue, readBuiltInCatalogueFiles } from '../../catalogue/built-in.ts'
import type { TaxonomySkill } from '../../catalogue/taxonomy.ts'
import { BuiltInWriter } from '../built-in-writer.ts'
import { checkItem, ITEM_CHECKS } from '../checks.ts'
import { findDuplicates } from '../near-duplicates.ts'
import { foldText, visibleLength, wordsOf } from '../text.ts'
import { type BankSkill, parseBank } from './format.ts'

/** Contents and check results of the bank, for the tests and the table in the documentation. */
export interface BankReport {
  files: { name: string; skills: number; items: number; languages: string[] }[]
  totals: Record<string, number>
  checks: { check: string; findings: number; rate: number }[]
  /** Success rates of guessing strategies, by language. */
  guesses: { strategy: string; hitRates: Record<string, number> }[]
  /** Distribution of the key's position in served items, and its chi-square statistic. */
  served: { items: number; positions: number[]; chiSquare: number }
  findings: BankFinding[]
}

interface BankFinding {
  check: string
  /** File and line. */
  location: string
  message: string
}

const BANK_FOLDER = new URL('../../../data/questions/', import.meta.url)
const ITEMS_PER_SKILL = 8
const LANGUAGES = ['en', 'hi']
/** Highest accepted success rate of a guessing strategy; random guessing succeeds one time in four. */
const MAX_GUESS_RATE = 0.4
/** Minimum number of wordings in a language for a meaningful success rate of guessing. */
const MIN_WORDINGS = 200
/** Highest accepted success rate for the items of one skill. It is higher, because the rate varies more with only a few items. */
const MAX_GUESS_RATE_PER_SKILL = 0.61

/** Checks of single items, and checks that need the whole bank or the catalogue. */
const BANK_CHECKS = [...ITEM_CHECKS, 'duplicate', 'file format', 'skill', 'item mix', 'guessable'] as const

/** A wording of an item in the form that `checkItem` expects, with its file and line. */
interface WordingRow {
  stem: string
  options: [string, string, string, string]
  key: number
  language: string
  /** Name of the skill. */
  about: string
  location: string
}

export async function inspectBank(includesFile: (name: string) => boolean = () => true): Promise<BankReport> {
  const catalogue = new Map(
    parseBuiltInCatalogue(await readBuiltInCatalogueFiles()).skills.map((skill) => [skill.number!, skill]),
  )
  const fileNames = (await readdir(BANK_FOLDER))
    .filter((name) => /^\d\d-.*\.txt$/.test(name) && includesFile(name))
    .sort()
  const files: BankReport['files'] = []
  const findings: BankFinding[] = []
  const rows: WordingRow[] = []
  const firstLocations = new Map<number, string>()

  for (const name of fileNames) {
    const { skills, errors } = parseBank(await readFile(new URL(name, BANK_FOLDER), 'utf8'))
    const locationOf = (line: number) => `data/questions/${name}:${line}`
    for (const { line, message } of errors) findings.push({ check: 'file format', location: locationOf(line), message })
    for (const skill of skills) {
      const addFinding = (check: string, message: string) =>
        findings.push({ check, location: locationOf(skill.line), message })
      const catalogueSkill = catalogue.get(skill.number)
      if (!catalogueSkill || catalogueSkill.name !== skill.name)
        addFinding('skill', `sk_${skill.number} is ${catalogueSkill?.name ?? 'unknown'}, not ${skill.name}`)
      else if (!catalogueSkill.verifiable)
        addFinding('skill', `sk_${skill.number} ${skill.name} is not marked verifiable`)
      const firstLocation = firstLocations.get(skill.number)
      if (firstLocation) addFinding('skill', `duplicate skill sk_${skill.number}; first defined at ${firstLocation}`)
      firstLocations.set(skill.number, locationOf(skill.line))
      checkMix(skill, addFinding)
      for (const item of skill.items) {
        for (const language of LANGUAGES) {
          const wording = item.wordings.get(language)
          if (!wording)
            findings.push({ check: 'item mix', location: locationOf(item.line), message: `no wording in ${language}` })
        }
        const keys = new Set([...item.wordings.values()].map(({ key }) => key))
        if (keys.size > 1)
          findings.push({
            check: 'one key',
            location: locationOf(item.line),
            message: 'the position of the key differs between languages',
          })
        for (const [language, { stem, options, key, line }] of item.wordings)
          rows.push({ stem, options, key, language, about: skill.name, location: locationOf(line) })
      }
    }
    const items = skills.flatMap((skill) => skill.items)
    const languages = [...new Set(items.flatMap((item) => [...item.wordings.keys()]))].sort()
    files.push({ name: name.replace('.txt', ''), skills: skills.length, items: items.length, languages })
  }

  for (const row of rows) {
    for (const { check, message } of checkItem(row))
      findings.push({ check, location: row.location, message: `${row.language}: ${message}` })
  }
  const languages = [...new Set(rows.map(({ language }) => language))].sort()
  for (const language of languages) {
    const languageRows = rows.filter((row) => row.language === language)
    for (const { firstIndex, secondIndex, message } of findDuplicates(languageRows))
      findings.push({
        check: 'duplicate',
        location: languageRows[secondIndex]!.location,
        message: `${language}: ${message} (${languageRows[firstIndex]!.location})`,
      })
  }
  const guesses = Object.entries(GUESSING_STRATEGIES).map(([strategy, scoreOption]) => ({
    strategy,
    hitRates: Object.fromEntries(languages.map((language) => [language, hitRate(rows, language, scoreOption)])),
  }))
  for (const { strategy, hitRates } of guesses) {
    for (const [language, rate] of Object.entries(hitRates)) {
      const hasEnoughWordings = rows.filter((row) => row.language === language).length >= MIN_WORDINGS
      if (hasEnoughWordings && rate > MAX_GUESS_RATE)
        findings.push({
          check: 'guessable',
          location: 'data/questions',
          message: `${language}: ${describeGuess(strategy, rate)}`,
        })
    }
  }

  for (const skillRows of Map.groupBy(rows, ({ about, language }) => `${language}: ${about}`).values()) {
    const { about, language, location } = skillRows[0]!
    for (const [strategy, scoreOption] of LENGTH_STRATEGIES) {
      const hitRateOfSkill = hitRate(skillRows, language, scoreOption)
      if (hitRateOfSkill > MAX_GUESS_RATE_PER_SKILL)
        findings.push({
          check: 'guessable',
          location,
          message: `${language}: ${about}: ${describeGuess(strategy, hitRateOfSkill)}`,
        })
    }
  }

  const items = files.reduce((sum, file) => sum + file.items, 0)
  return {
    files,
    totals: {
      trades: files.length,
      'skills covered': firstLocations.size,
      items,
      'items with every language':
        rows.length === 0
          ? 0
          : Math.min(...languages.map((language) => rows.filter((row) => row.language === language).length)),
      languages: languages.length,
      'wordings checked': rows.length,
      findings: findings.length,
    },
    checks: BANK_CHECKS.map((check) => {
      const count = findings.filter((finding) => finding.check === check).length
      return { check, findings: count, rate: rows.length === 0 ? 0 : count / rows.length }
    }),
    guesses,
    served: await serveItems([...firstLocations.keys()].flatMap((number) => catalogue.get(number) ?? [])),
    findings,
  }
}

/** Serves the items of every skill several times, as an assessment does. */
async function serveItems(skills: TaxonomySkill[]): Promise<BankReport['served']> {
  const writer = new BuiltInWriter({ current: { skills: [], skill: () => undefined } })
  const positions = [0, 0, 0, 0]
  for (let round = 0; round < SERVING_ROUNDS; round++) {
    for (const { name, description, number = 0 } of skills) {
      const language = round % 2 ? 'hi' : 'en'
      const context = { role: 'Helper', company: 'Metro Ltd' }
      const requestedSkills = [{ skill: { number, name, description }, count: ITEMS_PER_SKILL }]
      const { items } = await writer.writeItems({ skills: requestedSkills, context, language, seed: `round ${round}` })
      for (const { key } of items) positions[key]!++
    }
  }
  const items = positions.reduce((sum, count) => sum + count, 0)
  const chiSquare = positions.reduce((sum, count) => sum + (count - items / 4) ** 2, 0) / Math.max(1, items / 4)
  return { items, positions, chiSquare }
}

/** Number of times that the items of each skill are served. */
const SERVING_ROUNDS = 4

function checkMix(skill: BankSkill, add: (check: string, message: string) => void): void {
  const { items } = skill
  if (items.length < ITEMS_PER_SKILL)
    add('item mix', `${skill.name}: ${items.length} items; expected ${ITEMS_PER_SKILL}`)
  for (const difficulty of [1, 2, 3]) {
    const count = items.filter((item) => item.difficulty === difficulty).length
    if (count < 2) add('item mix', `${skill.name}: ${count} items of difficulty ${difficulty}; expected 2`)
  }
  const kinds = new Set(items.map(({ kind }) => kind)).size
  if (kinds < 4) add('item mix', `${skill.name}: ${kinds} kinds; expected 4`)
}

/** Guessing strategies. Each scores the options. The option with the highest score is chosen; a tie among n options counts as 1/n. */
const GUESSING_STRATEGIES: Record<string, (option: string, row: WordingRow) => number> = {
  'longest option': (option) => visibleLength(option),
  'shortest option': (option) => -visibleLength(option),
  'most words shared with the question': (option, { stem }) => countSharedWords(option, [stem]),
  'most words shared with the other options': (option, { options }) =>
    countSharedWords(
      option,
      options.filter((otherOption) => otherOption !== option),
    ),
}

/** Strategies that do not require reading the options. */
const LENGTH_STRATEGIES = Object.entries(GUESSING_STRATEGIES).slice(0, 2)

const describeGuess = (strategy: string, rate: number) =>
  `guessing by "${strategy}" is correct ${(rate * 100).toFixed(0)} % of the time`

/** Counts the words of the texts that the option contains too. */
function countSharedWords(option: string, texts: string[]): number {
  const optionWords = new Set(wordsOf(foldText(option)))
  return texts.reduce((sum, text) => sum + wordsOf(foldText(text)).filter((word) => optionWords.has(word)).length, 0)
}

/** Returns how often the option with the highest score is the key. */
function hitRate(
  rows: WordingRow[],
  language: string,
  scoreOption: (option: string, row: WordingRow) => number,
): number {
  const languageRows = rows.filter((row) => row.language === language)
  const hits = languageRows.map((row) => {
    const scores = row.options.map((option) => scoreOption(option, row))
    const bestScore = Math.max(...scores)
    return scores[row.key] === bestScore ? 1 / scores.filter((score) => score === bestScore).length : 0
  })
  return languageRows.length === 0 ? 0 : hits.reduce((sum, hit) => sum + hit, 0) / languageRows.length
}
