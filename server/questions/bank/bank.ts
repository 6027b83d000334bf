import { hash } from 'node:crypto'
import { readdir, readFile } from 'node:fs/promises'
import { PRIOR_DIFFICULTIES } from '../../measurement/model.ts'
import type { Language } from '../../platform/text/languages.ts'
import { languagesOf, MIN_ACTIVE_ITEMS, type SkillItem } from '../skill-items.ts'
import { type BankSkill, POOL_SIZE, parseBank } from './format.ts'

export const BANK_FOLDER = new URL('../../../data/questions/', import.meta.url)

/**
 * The built-in bank in memory: the bytes of the files and the offset of each skill. A skill's items are parsed when they are needed,
 * so that the bank needs little more memory than its size on disk.
 */
export class Bank {
  /** The part of the file that contains each skill, by skill number. */
  private readonly skillParts: Map<number, Buffer>
  private readonly languagesBySkill = new Map<number, Language[]>()

  private constructor(skillParts: Map<number, Buffer>) {
    this.skillParts = skillParts
  }

  static async read(): Promise<Bank> {
    const fileNames = (await readdir(BANK_FOLDER)).filter((name) => /^\d\d-.*\.txt$/.test(name)).sort()
    const files = await Promise.all(fileNames.map((name) => readFile(new URL(name, BANK_FOLDER))))
    const skillParts = new Map<number, Buffer>()
    for (const file of files) {
      const headings: { skillNumber: number; offset: number }[] = []
      for (let offset = file.indexOf('= sk_'); offset >= 0; offset = file.indexOf('\n= sk_', offset + 1)) {
        const start = file[offset] === NEW_LINE ? offset + 1 : offset
        if (start > 0 && file[start - 1] !== NEW_LINE) continue
        const skillNumber = Number.parseInt(file.toString('latin1', start + 5, start + 15), 10)
        headings.push({ skillNumber, offset: start })
      }
      for (const [index, { skillNumber, offset }] of headings.entries())
        skillParts.set(skillNumber, file.subarray(offset, headings[index + 1]?.offset ?? file.length))
    }
    return new Bank(skillParts)
  }

  get skillNumbers(): number[] {
    return [...this.skillParts.keys()]
  }

  has(skillNumber: number): boolean {
    return this.skillParts.has(skillNumber)
  }

  /** Returns whether the bank has enough items about a skill, if this many of them are retired. */
  canMeasure(skillNumber: number, retiredItems: number): boolean {
    if (!this.has(skillNumber)) return false
    // Parsing all skills takes long, and tests ensure that each has enough items.
    return retiredItems === 0 || this.itemsOf(skillNumber).length - retiredItems >= MIN_ACTIVE_ITEMS
  }

  itemsOf(skillNumber: number): SkillItem[] {
    const skillPart = this.skillParts.get(skillNumber)
    const skill = skillPart && parseBank(skillPart.toString('utf8')).skills[0]
    return skill ? skillItems(skill) : []
  }

  /** Returns the languages in which a skill can be asked. Kept in memory, because finding them means parsing the items. */
  languagesOf(skillNumber: number): readonly Language[] {
    const languages = this.languagesBySkill.get(skillNumber) ?? languagesOf(this.itemsOf(skillNumber))
    this.languagesBySkill.set(skillNumber, languages)
    return languages
  }
}

let openedBank: Promise<Bank> | undefined

/** Reads the built-in bank, once per process. */
export function loadBank(): Promise<Bank> {
  openedBank ??= Bank.read().catch((error) => {
    openedBank = undefined
    throw error
  })
  return openedBank
}

const NEW_LINE = 0x0a

/**
 * Returns the items of a skill. Their IDs contain the numbers of the skill, the pool and the stem, and a digest of the English text: an
 * item that is reworded is a new item, with statistics of its own.
 */
export function skillItems({ number, pools, calculations }: BankSkill): SkillItem[] {
  const pooledItems = pools.flatMap((pool) =>
    pool.stems.map(
      ({ difficulty, texts }, index): SkillItem => ({
        id: `${number}.${pool.number}.${index + 1}-${digest(texts.get('en')!, ...pool.options.get('en')!)}`,
        pool: `${number}.${pool.number}`,
        kind: pool.kind,
        difficulty: PRIOR_DIFFICULTIES[difficulty],
        texts: Object.fromEntries(
          [...texts].map(([language, stem]) => {
            const options = pool.options.get(language)!
            const distractors = Array.from({ length: POOL_SIZE - 1 }, (_, offset) =>
              offset < index ? offset : offset + 1,
            )
            return [language, { stem, options: [options[index]!, ...distractors.map((option) => options[option]!)] }]
          }),
        ),
      }),
    ),
  )
  const calculatedItems = calculations.map(
    ({ number: block, difficulty, calculation, texts }): SkillItem => ({
      id: `${number}.${block}-${digest(texts.get('en')!, calculation.key)}`,
      pool: `${number}.${block}`,
      kind: CALCULATION_KIND,
      difficulty: PRIOR_DIFFICULTIES[difficulty],
      texts: Object.fromEntries([...texts].map(([language, stem]) => [language as Language, { stem, options: [] }])),
      calculation,
    }),
  )
  return [...pooledItems, ...calculatedItems]
}

const digest = (...texts: string[]) => hash('sha256', texts.join('\n'), 'base64url').slice(0, 6)

const CALCULATION_KIND = 'calculation'
