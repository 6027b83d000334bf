/**
 * How good extract is on whole Indian job advertisements, with the built-in catalogue: of the skills it lists, how many the employer
 * asks for (precision), and of those asked for, how many it lists (recall); and how often a score is right. The half for tuning and
 * the half that is kept out of it are counted apart. Prints a table, or JSON with --json; --misses lists what was missed in the half for tuning.
 */
import { readdirSync, readFileSync } from 'node:fs'
import { buildSkillIndexAtOnce, type SkillIndex } from '../server/catalogue/index/skill-index.ts'
import { type Answer, reliabilityRows } from './reliability.ts'
import { printRows, type Row } from './support/rows.ts'
import { builtIn } from './support/skill-catalogues.ts'

const LIMIT = 25
/** A score of at least this counts as a yes. */
const THRESHOLD = 0.5

const folder = new URL('advertisements/', import.meta.url)

export interface Label {
  /** N of `sk_N`. */
  number: number
  name: string
}

export interface Advertisement {
  number: number
  title: string
  text: string
  asks: Label[]
  /** Mentioned, and ruled out. */
  notAsked: Label[]
}

export function readAdvertisements(): Advertisement[] {
  return readdirSync(folder)
    .filter((file) => file.endsWith('.txt'))
    .sort()
    .flatMap((file) =>
      readFileSync(new URL(file, folder), 'utf8')
        .split(/^== /m)
        .slice(1)
        .map((part) => readAdvertisement(file, part)),
    )
}

function readAdvertisement(file: string, part: string): Advertisement {
  const found = /^(\d+) \| ([^\n]+)\nasks: ([^\n]+)\n(?:not asked: ([^\n]+)\n)?\n(.+)$/s.exec(part)
  if (!found) throw new Error(`${file}: cannot be read: ${part.slice(0, 40)}`)
  const [, number, title, asks, notAsked, text] = found
  return {
    number: Number(number),
    title: title!,
    text: text!.trim(),
    asks: readLabels(asks!),
    notAsked: notAsked ? readLabels(notAsked) : [],
  }
}

function readLabels(line: string): Label[] {
  return line.split('; ').map((label) => {
    const found = /^sk_(\d+) (.+)$/.exec(label)
    if (!found) throw new Error(`not a label: ${label}`)
    return { number: Number(found[1]), name: found[2]! }
  })
}

export const isForTuning = ({ number }: Advertisement): boolean => number % 2 === 1

export function advertisementRows(): Row[] {
  const index = buildSkillIndexAtOnce(builtIn())
  const all = readAdvertisements()
  const halves = { tuning: all.filter(isForTuning), 'kept out': all.filter((one) => !isForTuning(one)) }
  return Object.entries(halves).flatMap(([name, half]) => [
    ...skillRows(`${name}, first ${LIMIT}`, index, half, 0),
    ...skillRows(`${name}, score from ${THRESHOLD}`, index, half, THRESHOLD),
    ...reliabilityRows(`advertisements, ${name}`, extractAnswers(index, half)),
  ])
}

function skillRows(name: string, index: SkillIndex, advertisements: Advertisement[], threshold: number): Row[] {
  let listed = 0
  let asked = 0
  let right = 0
  let ruledOut = 0
  let wrongly = 0
  for (const { text, asks, notAsked } of advertisements) {
    const numbers = listedSkills(index, text, threshold)
    listed += numbers.size
    asked += asks.length
    right += asks.filter(({ number }) => numbers.has(number)).length
    ruledOut += notAsked.length
    wrongly += notAsked.filter(({ number }) => numbers.has(number)).length
  }
  const of = `${advertisements.length} advertisements, ${asked} skills asked for, ${listed} listed`
  return [
    { name: `advertisements, ${name}, precision`, value: right / listed, unit: '', note: of },
    { name: `advertisements, ${name}, recall`, value: right / asked, unit: '' },
    { name: `advertisements, ${name}, F1`, value: (2 * right) / (listed + asked), unit: '' },
    {
      name: `advertisements, ${name}, listed though ruled out`,
      value: wrongly / ruledOut,
      unit: '',
      note: `of ${ruledOut} that the texts rule out`,
    },
  ]
}

function extractAnswers(index: SkillIndex, advertisements: Advertisement[]): Answer[] {
  return advertisements.flatMap(({ text, asks }) =>
    index
      .extract(text, LIMIT)
      .map(({ number, score }) => ({ score, right: asks.some((ask) => ask.number === number) })),
  )
}

function listedSkills(index: SkillIndex, text: string, threshold: number): Set<number> {
  const skills = index.extract(text, LIMIT).filter(({ score }) => score >= threshold)
  return new Set(skills.map(({ number }) => number))
}

/** What to look at when tuning; the half that is kept out is not shown. */
function printMisses(): void {
  const index = buildSkillIndexAtOnce(builtIn())
  for (const { number, title, text, asks, notAsked } of readAdvertisements().filter(isForTuning)) {
    const skills = index.extract(text, LIMIT)
    const missed = asks.filter((label) => !skills.some((skill) => skill.number === label.number))
    const extra = skills.filter((skill) => !asks.some((label) => label.number === skill.number))
    console.log(`\n${number} ${title}`)
    console.log(`  missed: ${missed.map(({ name }) => name).join('; ')}`)
    for (const skill of extra) {
      const mentions = skill.mentions.map(({ start, end }) => text.slice(start, end)).join(', ')
      const why = notAsked.some((label) => label.number === skill.number) ? 'ruled out' : 'not asked for'
      console.log(`  ${why}: ${skill.name} ${skill.score.toFixed(2)} (${mentions})`)
    }
  }
}

if (import.meta.main) {
  if (process.argv.includes('--misses')) printMisses()
  else if (process.argv.includes('--json')) console.log(JSON.stringify(advertisementRows(), null, 2))
  else printRows('advertisement-quality', advertisementRows())
}
