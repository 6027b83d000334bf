import { readdir, readFile } from 'node:fs/promises'
import { parseBuiltInCatalogue, readBuiltInCatalogueFiles } from '../../catalogue/built-in.ts'
import type { Language } from '../../platform/text/languages.ts'
import { checkItem, ITEM_CHECKS } from '../checks.ts'
import { findDuplicates } from '../near-duplicates.ts'
import { languagesOf, MIN_ACTIVE_ITEMS } from '../skill-items.ts'
import { BANK_FOLDER, skillItems } from './bank.ts'
import { checkCalculation } from './calculation-checks.ts'
import { type BankSkill, parseBank } from './format.ts'
import { GUESSING_STRATEGIES, measureGuessing } from './guessing.ts'
import { type ServedItem, serveItem } from './served-items.ts'

/** Contents and check results of the bank, for the tests and the tables in the documentation. */
export interface BankReport {
  files: { name: string; skills: number; largeSkills: number; items: number; languages: string[] }[]
  totals: Record<string, number>
  /** The number of items and of skills that can be asked in each language. */
  languages: { language: Language; items: number; skills: number }[]
  checks: { check: string; findings: number; rate: number }[]
  guesses: GuessReport[]
  /** Distribution of the key's position in served items, and its chi-square statistic. */
  served: { items: number; positions: number[]; chiSquare: number }
  findings: BankFinding[]
}

/** How often a guessing strategy finds the key in one language. */
interface GuessReport {
  strategy: string
  language: Language
  overall: number
  /** The trade in which the strategy is most often right; absent if there are too few items per trade. */
  worstTrade: { name: string; rate: number } | undefined
}

interface BankFinding {
  check: string
  /** File and line. */
  location: string
  message: string
}

/** Skills with this many items are the most demanded ones. */
const LARGE_SKILL_ITEMS = 24
const REQUIRED_LANGUAGES: Language[] = ['en', 'hi']
const MIN_POOLS = 2
const MIN_DIFFICULTIES = 2
/** At most this share of the pools of a skill ask for the meaning of terms; the others are about doing the work. */
const MAX_TERM_POOL_SHARE = 0.5

/** Highest accepted success rates of a guessing strategy; random guessing succeeds one time in four. */
export const MAX_GUESS_RATE = 0.33
export const MAX_GUESS_RATE_PER_TRADE = 0.4
/** Minimum number of items of a trade for a meaningful success rate. */
const MIN_ITEMS_PER_TRADE = 100
/** Number of people to whom each item is served, with different distractors and numbers. */
const PEOPLE_PER_ITEM = 2

/** Checks of single items, and checks that need the whole bank or the catalogue. */
const BANK_CHECKS = [
  ...ITEM_CHECKS,
  'calculation',
  'duplicate',
  'file format',
  'skill',
  'item mix',
  'guessable',
] as const
type BankCheck = (typeof BANK_CHECKS)[number]

/** A wording of an item in the form that `checkItem` expects, with its file and line. */
interface WordingRow {
  stem: string
  options: string[]
  key: number
  language: Language
  trade: string
  location: string
}

export async function inspectBank(includesFile: (name: string) => boolean = () => true): Promise<BankReport> {
  const catalogueNames = new Map(
    parseBuiltInCatalogue(await readBuiltInCatalogueFiles()).skills.map(({ number, name }) => [number!, name]),
  )
  const fileNames = (await readdir(BANK_FOLDER)).filter((name) => /^\d\d-.*\.txt$/.test(name) && includesFile(name))
  const files: BankReport['files'] = []
  const findings: BankFinding[] = []
  const rows: WordingRow[] = []
  const servedItems: ServedItem[] = []
  const firstLocations = new Map<number, string>()
  const languageCounts = new Map<Language, { items: number; skills: number }>()
  const addFinding = (check: BankCheck, location: string, message: string) =>
    findings.push({ check, location, message })

  for (const name of fileNames.sort()) {
    const trade = name.replace('.txt', '')
    const { skills, errors } = parseBank(await readFile(new URL(name, BANK_FOLDER), 'utf8'))
    const locationOf = (line: number) => `data/questions/${name}:${line}`
    for (const { line, message } of errors) addFinding('file format', locationOf(line), message)
    const itemsBySkill = skills.map(skillItems)
    for (const [index, skill] of skills.entries()) {
      const location = locationOf(skill.line)
      const catalogueName = catalogueNames.get(skill.number)
      if (catalogueName !== skill.name)
        addFinding('skill', location, `sk_${skill.number} is ${catalogueName ?? 'unknown'}, not ${skill.name}`)
      const firstLocation = firstLocations.get(skill.number)
      if (firstLocation) addFinding('skill', location, `sk_${skill.number} is defined at ${firstLocation} too`)
      firstLocations.set(skill.number, location)
      for (const message of checkMix(skill)) addFinding('item mix', location, `${skill.name}: ${message}`)
      for (const { calculation, texts, line } of skill.calculations)
        for (const message of checkCalculation(calculation, texts)) addFinding('calculation', locationOf(line), message)
      rows.push(...wordingRows(skill, trade, locationOf))

      const items = itemsBySkill[index]!
      for (const item of items) servedItems.push(...serveItem(item, trade, PEOPLE_PER_ITEM))
      for (const language of languagesOf(items)) {
        const counts = languageCounts.get(language) ?? { items: 0, skills: 0 }
        counts.items += items.filter(({ texts }) => texts[language]).length
        counts.skills++
        languageCounts.set(language, counts)
      }
    }
    files.push({
      name: trade,
      skills: skills.length,
      largeSkills: itemsBySkill.filter((items) => items.length >= LARGE_SKILL_ITEMS).length,
      items: itemsBySkill.flat().length,
      languages: [...new Set(itemsBySkill.flatMap(languagesOf))],
    })
  }

  for (const row of rows)
    for (const { check, message } of checkItem({ ...row, isPooled: row.options.length > 0 }))
      if (row.options.length > 0 || STEM_CHECKS.has(check))
        addFinding(check, row.location, `${row.language}: ${message}`)
  for (const languageRows of Map.groupBy(rows, ({ language }) => language).values())
    for (const { firstIndex, secondIndex, message } of findDuplicates(languageRows)) {
      const [first, second] = [languageRows[firstIndex]!, languageRows[secondIndex]!]
      // People are asked about skills of one trade, and may be asked about the same fact in another.
      if (first.trade !== second.trade) continue
      // Stems of one pool may be alike, as long as they differ: their keys are different.
      if (first.options === second.options && first.options.length > 0 && first.stem !== second.stem) continue
      addFinding('duplicate', second.location, `${second.language}: ${message} (${first.location})`)
    }
  const guesses = measureAllGuesses(servedItems)
  for (const guess of guesses)
    for (const message of checkGuessing(guess)) addFinding('guessable', 'data/questions', message)

  const sum = (count: (file: BankReport['files'][number]) => number) =>
    files.reduce((total, file) => total + count(file), 0)
  return {
    files,
    totals: {
      trades: files.length,
      'skills covered': firstLocations.size,
      [`skills with ${LARGE_SKILL_ITEMS} items or more`]: sum(({ largeSkills }) => largeSkills),
      items: sum(({ items }) => items),
      'calculations with numbers for each person': rows.filter(
        ({ options, language }) => options.length === 0 && language === 'en',
      ).length,
      languages: languageCounts.size,
      'wordings checked': rows.length,
      findings: findings.length,
    },
    languages: [...languageCounts].map(([language, counts]) => ({ language, ...counts })),
    checks: BANK_CHECKS.map((check) => {
      const count = findings.filter((finding) => finding.check === check).length
      return { check, findings: count, rate: rows.length === 0 ? 0 : count / rows.length }
    }),
    guesses,
    served: countPositions(servedItems),
    findings,
  }
}

/** The checks that apply to calculations, whose options are numbers. */
const STEM_CHECKS: ReadonlySet<string> = new Set(['negative stem', 'stem', 'reading level', 'language'])

function wordingRows(skill: BankSkill, trade: string, locationOf: (line: number) => string): WordingRow[] {
  const pooledRows = skill.pools.flatMap(({ options, stems }) =>
    stems.flatMap(({ texts, line }, key) =>
      [...texts].map(([language, stem]) => ({
        stem,
        options: options.get(language)!,
        key,
        language: language as Language,
        trade,
        location: locationOf(line),
      })),
    ),
  )
  const calculatedRows = skill.calculations.flatMap(({ texts, line }) =>
    [...texts].map(([language, stem]) => ({
      stem,
      options: [],
      key: 0,
      language: language as Language,
      trade,
      location: locationOf(line),
    })),
  )
  return [...pooledRows, ...calculatedRows]
}

function* checkMix({ pools, calculations }: BankSkill): Generator<string> {
  const count = pools.reduce((sum, { stems }) => sum + stems.length, 0) + calculations.length
  if (count < MIN_ACTIVE_ITEMS) yield `${count} items; expected at least ${MIN_ACTIVE_ITEMS}`
  if (pools.length < MIN_POOLS) yield `${pools.length} pools; expected at least ${MIN_POOLS}`
  const difficulties = new Set(pools.flatMap(({ stems }) => stems.map(({ difficulty }) => difficulty))).size
  if (difficulties < MIN_DIFFICULTIES) yield `${difficulties} difficulties; expected at least ${MIN_DIFFICULTIES}`
  const termPools = pools.filter(({ kind }) => kind === 'term').length
  if (termPools > pools.length * MAX_TERM_POOL_SHARE) yield `${termPools} of ${pools.length} pools are about terms`
  const blockNumbers = [...pools, ...calculations].map(({ number }) => number)
  if (new Set(blockNumbers).size < blockNumbers.length) yield 'two pools or calculations have the same number'
  for (const language of REQUIRED_LANGUAGES) {
    const missing =
      pools.filter(({ options }) => !options.has(language)).length +
      calculations.filter(({ texts }) => !texts.has(language)).length
    if (missing > 0) yield `${missing} pools or calculations without a text in ${language}`
  }
}

function measureAllGuesses(servedItems: readonly ServedItem[]): GuessReport[] {
  const byLanguage = Map.groupBy(servedItems, ({ language }) => language)
  return Object.entries(GUESSING_STRATEGIES).flatMap(([strategy, scoreOptions]) =>
    [...byLanguage].map(([language, items]) => {
      const { overall, trades } = measureGuessing(items, scoreOptions)
      const itemsPerTrade = items.length / PEOPLE_PER_ITEM / trades.size
      const [worst] = [...trades].sort(([, first], [, second]) => second - first)
      const worstTrade = worst && itemsPerTrade >= MIN_ITEMS_PER_TRADE ? { name: worst[0], rate: worst[1] } : undefined
      return { strategy, language, overall, worstTrade }
    }),
  )
}

function* checkGuessing({ strategy, language, overall, worstTrade }: GuessReport): Generator<string> {
  const describe = (rate: number) =>
    `${language}: guessing by "${strategy}" is correct ${(rate * 100).toFixed(1)} % of the time`
  if (overall > MAX_GUESS_RATE) yield `${describe(overall)}; the maximum is ${MAX_GUESS_RATE * 100} %`
  if (worstTrade && worstTrade.rate > MAX_GUESS_RATE_PER_TRADE)
    yield `${describe(worstTrade.rate)} in ${worstTrade.name}; the maximum is ${MAX_GUESS_RATE_PER_TRADE * 100} %`
}

function countPositions(servedItems: readonly ServedItem[]): BankReport['served'] {
  const positions = [0, 0, 0, 0]
  // All languages of an item have the same position.
  const englishItems = servedItems.filter(({ language }) => language === 'en')
  for (const { key } of englishItems) positions[key]!++
  const expected = Math.max(1, englishItems.length / positions.length)
  const chiSquare = positions.reduce((sum, count) => sum + (count - expected) ** 2, 0) / expected
  return { items: englishItems.length, positions, chiSquare }
}
