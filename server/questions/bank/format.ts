import type { StoredCalculation } from '../skill-items.ts'
import { parseFormulas, parseVariables } from './calculation.ts'

/**
 * The question bank: text files in `data/questions/`, one per trade, with the same name as the trade's file in `data/skills/`.
 *
 *     = sk_4001 Arc welding
 *
 *     @ 1 quality
 *     en | Porosity | Undercut | Slag inclusion | Burn-through | Cold lap | Arc strike
 *     hi | …the same options in Hindi
 *     1 2 | A damp rod leaves small round holes along the bead. What do you note? | …the same in Hindi
 *     2 1 | …
 *
 * This is pool 1, about quality: six options and six stems. Stem 1 has the difficulty 2, and its key is option 1. A person sees a stem
 * with its key and three of the other options. Each option is the key of one stem, so the options alone do not reveal the key.
 *
 *     % 2 3
 *     v l=4..9 h=3..5 n=48..56/2
 *     en A wall is {l} m long and {h} m high, and a square metre takes {n} bricks. How many bricks do you need?
 *     hi …the same in Hindi
 *     = l*h*n
 *     < l*h*(n-8) ; l*h*n/2 ; l*n
 *     > l*h*n*2 ; l*h*(n+10) ; l*h*n+2*h*n
 *
 * This is calculation 2, of difficulty 3. Its numbers are drawn for each person. `=` is the right result, `<` and `>` are results of
 * errors that are smaller and greater.
 *
 * Stems in further languages follow the Hindi ones, in the order of the option lines.
 */

export const ITEM_KINDS = [
  'fault',
  'tool',
  'material',
  'setting',
  'order',
  'safety',
  'quality',
  'rule',
  'measure',
  'situation',
  'term',
] as const
type ItemKind = (typeof ITEM_KINDS)[number]
type Difficulty = 1 | 2 | 3
export const POOL_SIZE = 6

interface BankStem {
  difficulty: Difficulty
  texts: Map<string, string>
  line: number
}

/** Stems that share their options. The key of a stem is the option with the same index. */
interface BankPool {
  number: number
  kind: ItemKind
  options: Map<string, string[]>
  stems: BankStem[]
  line: number
}

interface BankCalculation {
  number: number
  difficulty: Difficulty
  calculation: StoredCalculation
  texts: Map<string, string>
  line: number
}

export interface BankSkill {
  number: number
  name: string
  line: number
  pools: BankPool[]
  calculations: BankCalculation[]
}

export interface FormatError {
  line: number
  message: string
}

/** Parses a file or a part of it; invalid parts are skipped and reported in `errors`. */
export function parseBank(text: string, firstLine = 1): { skills: BankSkill[]; errors: FormatError[] } {
  const parser = new BankParser(text.split('\n'), firstLine)
  parser.parse()
  return { skills: parser.skills, errors: parser.errors }
}

class BankParser {
  readonly skills: BankSkill[] = []
  readonly errors: FormatError[] = []
  readonly #lines: string[]
  readonly #firstLine: number
  #index = 0

  constructor(lines: string[], firstLine: number) {
    this.#lines = lines.map((line) => line.trimEnd())
    this.#firstLine = firstLine
  }

  parse(): void {
    while (this.#index < this.#lines.length) {
      const line = this.#lines[this.#index]!
      if (line === '' || line.startsWith('# ')) this.#index++
      else if (line.startsWith('= ')) this.#parseSkill(line)
      else if (line.startsWith('@ ')) this.#parsePool(line)
      else if (line.startsWith('% ')) this.#parseCalculation(line)
      else this.#fail('unknown line format')
    }
  }

  get #lineNumber(): number {
    return this.#firstLine + this.#index
  }

  /** Reports the current line and continues with the next one. */
  #fail(message: string): void {
    const line = this.#lines[this.#index] ?? ''
    this.errors.push({ line: this.#lineNumber, message: `${message}: ${line.slice(0, 80)}` })
    this.#index++
  }

  #parseSkill(line: string): void {
    const [, number, name] = /^= sk_(\d+) (.+)$/.exec(line) ?? []
    if (!name) {
      this.#fail('expected "= sk_N Name"')
      return
    }
    this.skills.push({ number: Number(number), name, line: this.#lineNumber, pools: [], calculations: [] })
    this.#index++
  }

  #parsePool(line: string): void {
    const skill = this.skills.at(-1)
    const [, number, kindName] = /^@ (\d+) (\w+)$/.exec(line) ?? []
    const kind = ITEM_KINDS.find((itemKind) => itemKind === kindName)
    if (!skill || !kind) {
      this.#fail(`expected "@ NUMBER KIND" below a skill, KIND one of ${ITEM_KINDS.join(', ')}`)
      return
    }
    const pool: BankPool = { number: Number(number), kind, options: new Map(), stems: [], line: this.#lineNumber }
    this.#index++
    for (let row = this.#row(/^[a-z]{2}$/); row; row = this.#row(/^[a-z]{2}$/)) {
      const [language, ...options] = row
      if (options.length !== POOL_SIZE) this.#report(`${options.length} options; expected ${POOL_SIZE}`)
      else if (pool.options.has(language!)) this.#report(`options in ${language} occur twice`)
      else pool.options.set(language!, options)
      this.#index++
    }
    const languages = [...pool.options.keys()]
    for (let row = this.#row(/^\d+ [123]$/); row; row = this.#row(/^\d+ [123]$/)) {
      const [heading, ...texts] = row
      const [stemNumber, difficulty] = heading!.split(' ').map(Number)
      if (stemNumber !== pool.stems.length + 1) this.#report(`expected stem ${pool.stems.length + 1}`)
      else if (texts.length !== languages.length)
        this.#report(`${texts.length} stems; expected one for each of ${languages.join(', ')}`)
      else
        pool.stems.push({
          difficulty: difficulty as Difficulty,
          texts: new Map(texts.map((text, index) => [languages[index]!, text])),
          line: this.#lineNumber,
        })
      this.#index++
    }
    if (pool.options.has('en') && pool.stems.length === POOL_SIZE) skill.pools.push(pool)
    else
      this.errors.push({
        line: pool.line,
        message: `a pool needs ${POOL_SIZE} English options and ${POOL_SIZE} stems; found ${pool.stems.length} valid stems`,
      })
  }

  #parseCalculation(line: string): void {
    const skill = this.skills.at(-1)
    const [, number, difficulty] = /^% (\d+) ([123])$/.exec(line) ?? []
    if (!skill || !difficulty) {
      this.#fail('expected "% NUMBER DIFFICULTY" below a skill')
      return
    }
    const startLine = this.#lineNumber
    this.#index++
    const parts = new Map<string, string>()
    for (;;) {
      const [, name, text] = /^(v|[a-z]{2}|[=<>]) (.+)$/.exec(this.#lines[this.#index] ?? '') ?? []
      if (!name || /^= sk_/.test(this.#lines[this.#index]!)) break
      parts.set(name, text!)
      this.#index++
    }
    try {
      const part = (name: string) => {
        const text = parts.get(name)
        if (text === undefined) throw new Error(`the line "${name} …" is missing`)
        return text
      }
      const formulas = (name: string) => part(name).split(';')
      const calculation = {
        values: parseVariables(part('v')),
        key: part('='),
        lower: formulas('<'),
        higher: formulas('>'),
      }
      // Invalid formulas are reported here.
      parseFormulas([calculation.key, ...calculation.lower, ...calculation.higher])
      part('en')
      const texts = new Map([...parts].filter(([name]) => /^[a-z]{2}$/.test(name)))
      skill.calculations.push({
        number: Number(number),
        difficulty: Number(difficulty) as Difficulty,
        calculation,
        texts,
        line: startLine,
      })
    } catch (error) {
      this.errors.push({ line: startLine, message: (error as Error).message })
    }
  }

  /** Returns the cells of the current line if its first cell matches. */
  #row(heading: RegExp): string[] | undefined {
    const cells = this.#lines[this.#index]?.split('|').map((cell) => cell.trim())
    return cells && cells.length > 1 && heading.test(cells[0]!) ? cells : undefined
  }

  /** Reports the current line without leaving it. */
  #report(message: string): void {
    this.errors.push({ line: this.#lineNumber, message })
  }
}
