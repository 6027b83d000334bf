import { readdir, readFile } from 'node:fs/promises'
import { parseBuiltIn, readBuiltInFiles } from '../../catalogue/built-in.ts'
import type { TaxonomySkill } from '../../catalogue/taxonomy.ts'
import { BuiltInWriter } from '../built-in-writer.ts'
import { CHECKS, checkItem } from '../checks.ts'
import { findDuplicates } from '../near-duplicates.ts'
import { fold, lengthOf, wordsOf } from '../text.ts'
import { type BankSkill, parseBank } from './format.ts'

/** What the bank holds and what the checks find in it: for the tests and for the table in the documentation. */
export interface BankReport {
  files: { name: string; skills: number; items: number; languages: string[] }[]
  totals: Record<string, number>
  checks: { check: string; findings: number; rate: number }[]
  /** How often somebody who knows nothing of the work is right, a share for each language. */
  guesses: { strategy: string; hits: Record<string, number> }[]
  /** Where the key stands in items as the writer serves them, and how far that is from even (chi-square). */
  served: { items: number; places: number[]; spread: number }
  findings: BankFinding[]
}

export interface BankFinding {
  check: string
  /** File and line. */
  at: string
  message: string
}

const FOLDER = new URL('../../../data/questions/', import.meta.url)
const ITEMS_A_SKILL = 8
const LANGUAGES = ['en', 'hi']
/** A guesser who always takes the longest option should be right one time in four. */
const TOLERATED_GUESS = 0.4
const ENOUGH_TO_TELL = 200
/** Of one skill's few items, which somebody may answer in one sitting. */
const TOLERATED_GUESS_IN_A_SKILL = 0.61

/** The checks of a single item, and those that need the whole bank or the catalogue. */
const BANK_CHECKS = [...CHECKS, 'duplicate', 'form of the file', 'skill', 'mix of items', 'guessable'] as const

interface Row {
  stem: string
  options: [string, string, string, string]
  key: number
  language: string
  about: string
  at: string
}

export async function inspectBank(select: (name: string) => boolean = () => true): Promise<BankReport> {
  const catalogue = new Map(parseBuiltIn(await readBuiltInFiles()).skills.map((skill) => [skill.number!, skill]))
  const names = (await readdir(FOLDER)).filter((name) => /^\d\d-.*\.txt$/.test(name) && select(name)).sort()
  const files: BankReport['files'] = []
  const findings: BankFinding[] = []
  const rows: Row[] = []
  const firstAt = new Map<number, string>()

  for (const name of names) {
    const { skills, faults } = parseBank(await readFile(new URL(name, FOLDER), 'utf8'))
    const at = (line: number) => `data/questions/${name}:${line}`
    for (const { line, message } of faults) findings.push({ check: 'form of the file', at: at(line), message })
    for (const skill of skills) {
      const add = (check: string, message: string) => findings.push({ check, at: at(skill.line), message })
      const known = catalogue.get(skill.number)
      if (!known || known.name !== skill.name)
        add('skill', `sk_${skill.number} is ${known?.name ?? 'unknown'}, not ${skill.name}`)
      else if (!known.verifiable) add('skill', `sk_${skill.number} ${skill.name} is not marked verifiable`)
      const before = firstAt.get(skill.number)
      if (before) add('skill', `sk_${skill.number} is at ${before} already`)
      firstAt.set(skill.number, at(skill.line))
      checkMix(skill, add)
      for (const item of skill.items) {
        for (const language of LANGUAGES) {
          const wording = item.wordings.get(language)
          if (!wording)
            findings.push({ check: 'mix of items', at: at(item.line), message: `no wording in ${language}` })
        }
        const keys = new Set([...item.wordings.values()].map(({ key }) => key))
        if (keys.size > 1)
          findings.push({
            check: 'one key',
            at: at(item.line),
            message: 'the key stands elsewhere in another language',
          })
        for (const [language, { stem, options, key, line }] of item.wordings)
          rows.push({ stem, options, key, language, about: skill.name, at: at(line) })
      }
    }
    const items = skills.flatMap((skill) => skill.items)
    const languages = [...new Set(items.flatMap((item) => [...item.wordings.keys()]))].sort()
    files.push({ name: name.replace('.txt', ''), skills: skills.length, items: items.length, languages })
  }

  for (const row of rows) {
    for (const { check, message } of checkItem(row))
      findings.push({ check, at: row.at, message: `${row.language}: ${message}` })
  }
  const languages = [...new Set(rows.map(({ language }) => language))].sort()
  for (const language of languages) {
    const own = rows.filter((row) => row.language === language)
    for (const { other, one, message } of findDuplicates(own))
      findings.push({ check: 'duplicate', at: own[other]!.at, message: `${language}: ${message} (${own[one]!.at})` })
  }
  const guesses = Object.entries(STRATEGIES).map(([strategy, choose]) => ({
    strategy,
    hits: Object.fromEntries(languages.map((language) => [language, hitRate(rows, language, choose)])),
  }))
  for (const { strategy, hits } of guesses) {
    for (const [language, hit] of Object.entries(hits)) {
      const enough = rows.filter((row) => row.language === language).length >= ENOUGH_TO_TELL
      if (enough && hit > TOLERATED_GUESS)
        findings.push({
          check: 'guessable',
          at: 'data/questions',
          message: `${language}: ${told(strategy, hit)}`,
        })
    }
  }

  for (const own of Map.groupBy(rows, ({ about, language }) => `${language}: ${about}`).values()) {
    const { about, language, at } = own[0]!
    for (const [strategy, choose] of BY_LENGTH) {
      const hit = hitRate(own, language, choose)
      if (hit > TOLERATED_GUESS_IN_A_SKILL)
        findings.push({ check: 'guessable', at, message: `${language}: ${about}: ${told(strategy, hit)}` })
    }
  }

  const items = files.reduce((sum, file) => sum + file.items, 0)
  return {
    files,
    totals: {
      trades: files.length,
      'skills covered': firstAt.size,
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
    served: await serve([...firstAt.keys()].flatMap((number) => catalogue.get(number) ?? [])),
    findings,
  }
}

/** Serves every skill's items a few times, as an assessment would. */
async function serve(skills: TaxonomySkill[]): Promise<BankReport['served']> {
  const writer = new BuiltInWriter({ current: { skills: [], skill: () => undefined } })
  const places = [0, 0, 0, 0]
  for (let round = 0; round < ROUNDS; round++) {
    for (const { name, description, number = 0 } of skills) {
      const language = round % 2 ? 'hi' : 'en'
      const context = { role: 'Helper', company: 'Metro Ltd' }
      const asked = [{ skill: { number, name, description }, count: ITEMS_A_SKILL }]
      const { items } = await writer.writeItems({ skills: asked, context, language, seed: `round ${round}` })
      for (const { key } of items) places[key]!++
    }
  }
  const items = places.reduce((sum, count) => sum + count, 0)
  const spread = places.reduce((sum, count) => sum + (count - items / 4) ** 2, 0) / Math.max(1, items / 4)
  return { items, places, spread }
}

const ROUNDS = 4

function checkMix(skill: BankSkill, add: (check: string, message: string) => void): void {
  const { items } = skill
  if (items.length < ITEMS_A_SKILL)
    add('mix of items', `${skill.name}: ${items.length} items; expected ${ITEMS_A_SKILL}`)
  for (const difficulty of [1, 2, 3]) {
    const count = items.filter((item) => item.difficulty === difficulty).length
    if (count < 2) add('mix of items', `${skill.name}: ${count} items of difficulty ${difficulty}; expected 2`)
  }
  const kinds = new Set(items.map(({ kind }) => kind)).size
  if (kinds < 4) add('mix of items', `${skill.name}: ${kinds} kinds; expected 4`)
}

/** What test-wise people do. Each gives the options a mark; the highest is chosen, and of equal ones each counts a part. */
const STRATEGIES: Record<string, (option: string, row: Row) => number> = {
  'takes the longest option': (option) => lengthOf(option),
  'takes the shortest option': (option) => -lengthOf(option),
  'takes what shares most words with the question': (option, { stem }) => sharedWords(option, [stem]),
  'takes what shares most words with the other options': (option, { options }) =>
    sharedWords(
      option,
      options.filter((other) => other !== option),
    ),
}

/** What the eye can do without reading. */
const BY_LENGTH = Object.entries(STRATEGIES).slice(0, 2)

const told = (strategy: string, hit: number) => `who ${strategy} is right ${(hit * 100).toFixed(0)} % of the time`

function sharedWords(option: string, texts: string[]): number {
  const own = new Set(wordsOf(fold(option)))
  return texts.reduce((sum, text) => sum + wordsOf(fold(text)).filter((word) => own.has(word)).length, 0)
}

function hitRate(rows: Row[], language: string, choose: (option: string, row: Row) => number): number {
  const own = rows.filter((row) => row.language === language)
  const hits = own.map((row) => {
    const marks = row.options.map((option) => choose(option, row))
    const best = Math.max(...marks)
    return marks[row.key] === best ? 1 / marks.filter((mark) => mark === best).length : 0
  })
  return own.length === 0 ? 0 : hits.reduce((sum, hit) => sum + hit, 0) / own.length
}
