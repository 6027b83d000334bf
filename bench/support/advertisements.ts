import { readdirSync, readFileSync } from 'node:fs'

interface SkillLabel {
  /** The number in the skill ID `sk_…`. */
  number: number
  name: string
}

export interface Advertisement {
  number: number
  title: string
  text: string
  requiredSkills: SkillLabel[]
  /** Skills that the text mentions but does not require. */
  excludedSkills: SkillLabel[]
}

interface Span {
  start: number
  end: number
}

/** A span of skill in a text, with the skills of the catalogue that it names. */
interface Mark extends Span {
  type: 's' | 'k'
  requiredNumbers: number[]
  excludedNumbers: number[]
}

/** An advertisement in which every span of skill is marked. */
export interface MarkedAdvertisement extends Advertisement {
  marks: Mark[]
  /** By type: spans of skills (clauses such as "coordinate developers"), then of knowledge (names such as "Java"). */
  spans: [Span[], Span[]]
}

/** Reads the advertisements whose labels are skills of the catalogue only. */
export const readAdvertisements = (): Advertisement[] => readFolder('advertisements')

/** Reads the advertisements whose texts contain marks such as `{k|tile laying|1042}`. */
export function readMarkedAdvertisements(): MarkedAdvertisement[] {
  return readFolder('advertisements-marked').map((advertisement) => {
    const { text, marks } = readMarks(advertisement.text)
    const spansOf = (type: Mark['type']) =>
      marks.filter((mark) => mark.type === type).map(({ start, end }) => ({ start, end }))
    return { ...advertisement, text, marks, spans: [spansOf('s'), spansOf('k')] }
  })
}

/** Advertisements with odd numbers are for tuning; those with even numbers are only measured. */
export const isForTuning = ({ number }: Advertisement): boolean => number % 2 === 1

function readFolder(folder: string): Advertisement[] {
  const url = new URL(`../${folder}/`, import.meta.url)
  return readdirSync(url)
    .filter((file) => file.endsWith('.txt'))
    .sort((a, b) => a.localeCompare(b, 'en', { numeric: true }))
    .flatMap((file) =>
      readFileSync(new URL(file, url), 'utf8')
        .split(/^== /m)
        .slice(1)
        .map((part) => readAdvertisement(file, part)),
    )
}

function readAdvertisement(file: string, part: string): Advertisement {
  const match = /^(\d+) \| ([^\n]+)\nrequired:(?: ([^\n]+))?\n(?:not required: ([^\n]+)\n)?\n(.+)$/s.exec(part)
  if (!match) throw new Error(`${file}: invalid advertisement: ${part.slice(0, 40)}`)
  const [, number, title, requiredSkills, excludedSkills, text] = match
  return {
    number: Number(number),
    title: title!,
    text: text!.trim(),
    requiredSkills: requiredSkills ? readLabels(requiredSkills) : [],
    excludedSkills: excludedSkills ? readLabels(excludedSkills) : [],
  }
}

function readLabels(line: string): SkillLabel[] {
  return line.split('; ').map((label) => {
    const match = /^sk_(\d+) (.+)$/.exec(label)
    if (!match) throw new Error(`invalid label ${label}: expected "sk_1001 Bricklaying"`)
    return { number: Number(match[1]), name: match[2]! }
  })
}

/** Removes the marks from a text, and returns their offsets in the text that remains. */
function readMarks(markedText: string): { text: string; marks: Mark[] } {
  const marks: Mark[] = []
  let text = ''
  let end = 0
  for (const match of markedText.matchAll(/\{([sk])\|([^{}|]+)(?:\|(not )?(\d+(?:,\d+)*))?\}/g)) {
    text += markedText.slice(end, match.index)
    end = match.index + match[0].length
    const [, type, span, not, list] = match
    const numbers = list ? list.split(',').map(Number) : []
    marks.push({
      type: type as Mark['type'],
      start: text.length,
      end: text.length + span!.length,
      requiredNumbers: not ? [] : numbers,
      excludedNumbers: not ? numbers : [],
    })
    text += span
  }
  text += markedText.slice(end)
  if (/[{}|]/.test(text)) throw new Error(`invalid mark in "${text.slice(0, 60)}…"`)
  return { text, marks }
}
