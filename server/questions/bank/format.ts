/**
 * The question bank: text files in `data/questions/`, one a trade, named like the trade's file in `data/skills/`.
 *
 *     = sk_4001 Arc welding
 *
 *     ? safety 2
 *     en You have to weld a bracket onto a drum that once held thinner. What do you do first?
 *     + Have the drum cleaned and tested for vapour
 *     - Open the lid and weld from the outside
 *     - Wet the outside and weld in short runs
 *     - Lower the current and use a thin rod
 *     hi …the same in Hindi, options in the same order
 *
 * `+` marks the key. The order of the options in the file tells nothing: they are shuffled before anybody sees them.
 */

export const KINDS = ['safety', 'tools', 'order', 'situation', 'quality', 'measure'] as const
export type Kind = (typeof KINDS)[number]
export type Difficulty = 1 | 2 | 3

/** What an item says in one language. */
export interface Wording {
  stem: string
  options: [string, string, string, string]
  key: 0 | 1 | 2 | 3
  line: number
}

export interface BankItem {
  skill: number
  /** The item's place among those of its skill, from 1. */
  number: number
  kind: Kind
  difficulty: Difficulty
  wordings: Map<string, Wording>
  line: number
}

export interface BankSkill {
  number: number
  name: string
  line: number
  items: BankItem[]
}

export interface Fault {
  line: number
  message: string
}

/** Reads a file or a part of one; what it cannot read is told in `faults` and left out. */
export function parseBank(text: string, firstLine = 1): { skills: BankSkill[]; faults: Fault[] } {
  const skills: BankSkill[] = []
  const faults: Fault[] = []
  let skill: BankSkill | undefined
  let item: BankItem | undefined
  let wording: { language: string; stem: string; line: number; options: string[]; keys: number[] } | undefined

  const finishWording = () => {
    if (!wording || !item) return
    const { language, stem, line, options, keys } = wording
    if (options.length !== 4 || keys.length !== 1)
      faults.push({ line, message: `${language}: ${options.length} options and ${keys.length} keys; expected 4 and 1` })
    else if (item.wordings.has(language)) faults.push({ line, message: `${language} for the second time in one item` })
    else
      item.wordings.set(language, {
        stem,
        options: options as Wording['options'],
        key: keys[0] as Wording['key'],
        line,
      })
    wording = undefined
  }

  for (const [index, given] of text.split('\n').entries()) {
    const line = firstLine + index
    const content = given.trimEnd()
    const fail = (message: string) => faults.push({ line, message: `${message}: ${content.slice(0, 80)}` })
    if (!content || content.startsWith('# ')) continue
    const mark = content[0]
    const rest = content.slice(2)
    if (mark === '=') {
      finishWording()
      item = undefined
      const heading = /^= sk_(\d+) (.+)$/.exec(content)
      if (heading) {
        skill = { number: Number(heading[1]), name: heading[2]!, line, items: [] }
        skills.push(skill)
      } else fail('expected "= sk_N Name"')
    } else if (mark === '?') {
      finishWording()
      const heading = /^\? (\w+) ([123])$/.exec(content)
      const kind = KINDS.find((known) => known === heading?.[1])
      if (heading && kind && skill) {
        const difficulty = Number(heading[2]) as Difficulty
        item = { skill: skill.number, number: skill.items.length + 1, kind, difficulty, wordings: new Map(), line }
        skill.items.push(item)
      } else {
        item = undefined
        fail(`expected "? KIND 1|2|3" below a skill, KIND one of ${KINDS.join(', ')}`)
      }
    } else if (mark === '+' || mark === '-') {
      if (wording && content[1] === ' ') {
        if (mark === '+') wording.keys.push(wording.options.length)
        wording.options.push(rest)
      } else fail('an option without a stem before it')
    } else if (/^[a-z]{2} /.test(content)) {
      finishWording()
      if (item) wording = { language: content.slice(0, 2), stem: content.slice(3), line, options: [], keys: [] }
      else fail('a stem without "? KIND DIFFICULTY" before it')
    } else fail('a line of no known form')
  }
  finishWording()
  return { skills, faults }
}
