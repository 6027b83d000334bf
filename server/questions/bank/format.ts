/**
 * The question bank: text files in `data/questions/`, one per trade, with the same name as the trade's file in `data/skills/`.
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
 * `+` marks the key. The order of the options in the file does not matter: they are shuffled before they are shown.
 */

export const ITEM_KINDS = ['safety', 'tools', 'order', 'situation', 'quality', 'measure'] as const
type ItemKind = (typeof ITEM_KINDS)[number]
type Difficulty = 1 | 2 | 3

/** An item in one language. */
interface Wording {
  stem: string
  options: [string, string, string, string]
  key: 0 | 1 | 2 | 3
  line: number
}

export interface BankItem {
  skill: number
  /** Position within the skill, starting at 1. */
  number: number
  kind: ItemKind
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

export interface FormatError {
  line: number
  message: string
}

/** Parses a file or a part of it; invalid parts are skipped and reported in `errors`. */
export function parseBank(text: string, firstLine = 1): { skills: BankSkill[]; errors: FormatError[] } {
  const skills: BankSkill[] = []
  const errors: FormatError[] = []
  let skill: BankSkill | undefined
  let item: BankItem | undefined
  let wording: { language: string; stem: string; line: number; options: string[]; keys: number[] } | undefined

  const finishWording = () => {
    if (!wording || !item) return
    const { language, stem, line, options, keys } = wording
    if (options.length !== 4 || keys.length !== 1)
      errors.push({ line, message: `${language}: ${options.length} options and ${keys.length} keys; expected 4 and 1` })
    else if (item.wordings.has(language)) errors.push({ line, message: `${language} occurs twice in one item` })
    else
      item.wordings.set(language, {
        stem,
        options: options as Wording['options'],
        key: keys[0] as Wording['key'],
        line,
      })
    wording = undefined
  }

  for (const [index, rawLine] of text.split('\n').entries()) {
    const line = firstLine + index
    const content = rawLine.trimEnd()
    const fail = (message: string) => errors.push({ line, message: `${message}: ${content.slice(0, 80)}` })
    if (!content || content.startsWith('# ')) continue
    const marker = content[0]
    const lineText = content.slice(2)
    if (marker === '=') {
      finishWording()
      item = undefined
      const heading = /^= sk_(\d+) (.+)$/.exec(content)
      if (heading) {
        skill = { number: Number(heading[1]), name: heading[2]!, line, items: [] }
        skills.push(skill)
      } else fail('expected "= sk_N Name"')
    } else if (marker === '?') {
      finishWording()
      const heading = /^\? (\w+) ([123])$/.exec(content)
      const kind = ITEM_KINDS.find((itemKind) => itemKind === heading?.[1])
      if (heading && kind && skill) {
        const difficulty = Number(heading[2]) as Difficulty
        item = { skill: skill.number, number: skill.items.length + 1, kind, difficulty, wordings: new Map(), line }
        skill.items.push(item)
      } else {
        item = undefined
        fail(`expected "? KIND 1|2|3" below a skill, KIND one of ${ITEM_KINDS.join(', ')}`)
      }
    } else if (marker === '+' || marker === '-') {
      if (wording && content[1] === ' ') {
        if (marker === '+') wording.keys.push(wording.options.length)
        wording.options.push(lineText)
      } else fail('expected a stem before the option')
    } else if (/^[a-z]{2} /.test(content)) {
      finishWording()
      if (item) wording = { language: content.slice(0, 2), stem: content.slice(3), line, options: [], keys: [] }
      else fail('expected "? KIND DIFFICULTY" before the stem')
    } else fail('unknown line format')
  }
  finishWording()
  return { skills, errors }
}
