/**
 * Measures the quality of `extract` on Indian job advertisements with the built-in catalogue: precision and recall of the skills
 * that the employer requires, and how well scores predict correctness. Separately for the half that is used for tuning and the
 * held-out half. Prints a table, or JSON with --json; --misses lists the errors in the tuning half.
 */
import { readdirSync, readFileSync } from 'node:fs'
import { buildSkillIndexSync, type SkillIndex } from '../server/catalogue/index/skill-index.ts'
import { type Prediction, reliabilityRows } from './reliability.ts'
import { type BenchmarkRow, printRows } from './support/benchmark.ts'
import { builtIn } from './support/skill-catalogues.ts'

const MAX_SKILLS = 25
/** Skills with at least this score count as extracted. */
const MIN_SCORE = 0.5

const folder = new URL('advertisements/', import.meta.url)

interface Label {
  /** The number in the skill ID `sk_…`. */
  number: number
  name: string
}

export interface Advertisement {
  number: number
  title: string
  text: string
  asks: Label[]
  /** Skills that the text mentions but does not require. */
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
  if (!found) throw new Error(`${file}: invalid advertisement: ${part.slice(0, 40)}`)
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
    if (!found) throw new Error(`invalid label ${label}: expected "sk_1001 Bricklaying"`)
    return { number: Number(found[1]), name: found[2]! }
  })
}

export const isForTuning = ({ number }: Advertisement): boolean => number % 2 === 1

export function advertisementRows(): BenchmarkRow[] {
  const index = buildSkillIndexSync(builtIn())
  const all = readAdvertisements()
  const halves = { tuning: all.filter(isForTuning), 'held out': all.filter((one) => !isForTuning(one)) }
  return Object.entries(halves).flatMap(([name, half]) => [
    ...skillRows(`${name}, first ${MAX_SKILLS}`, index, half, 0),
    ...skillRows(`${name}, score at least ${MIN_SCORE}`, index, half, MIN_SCORE),
    ...reliabilityRows(`advertisements, ${name}`, extractPredictions(index, half)),
  ])
}

function skillRows(
  name: string,
  index: SkillIndex,
  advertisements: Advertisement[],
  threshold: number,
): BenchmarkRow[] {
  let extracted = 0
  let required = 0
  let correct = 0
  let excluded = 0
  let wronglyExtracted = 0
  for (const { text, asks, notAsked } of advertisements) {
    const numbers = extractNumbers(index, text, threshold)
    extracted += numbers.size
    required += asks.length
    correct += asks.filter(({ number }) => numbers.has(number)).length
    excluded += notAsked.length
    wronglyExtracted += notAsked.filter(({ number }) => numbers.has(number)).length
  }
  const note = `${advertisements.length} advertisements, ${required} required skills, ${extracted} extracted`
  return [
    { name: `advertisements, ${name}, precision`, value: correct / extracted, unit: '', note },
    { name: `advertisements, ${name}, recall`, value: correct / required, unit: '' },
    { name: `advertisements, ${name}, F1`, value: (2 * correct) / (extracted + required), unit: '' },
    {
      name: `advertisements, ${name}, extracted though not required`,
      value: wronglyExtracted / excluded,
      unit: '',
      note: `of ${excluded} that the texts mention but do not require`,
    },
  ]
}

function extractPredictions(index: SkillIndex, advertisements: Advertisement[]): Prediction[] {
  return advertisements.flatMap(({ text, asks }) =>
    index
      .extract(text, MAX_SKILLS)
      .map(({ number, score }) => ({ score, correct: asks.some((ask) => ask.number === number) })),
  )
}

function extractNumbers(index: SkillIndex, text: string, threshold: number): Set<number> {
  const skills = index.extract(text, MAX_SKILLS).filter(({ score }) => score >= threshold)
  return new Set(skills.map(({ number }) => number))
}

/** Prints the errors in the tuning half. The held-out half is never shown. */
function printMisses(): void {
  const index = buildSkillIndexSync(builtIn())
  for (const { number, title, text, asks, notAsked } of readAdvertisements().filter(isForTuning)) {
    const skills = index.extract(text, MAX_SKILLS)
    const missed = asks.filter((label) => !skills.some((skill) => skill.number === label.number))
    const extra = skills.filter((skill) => !asks.some((label) => label.number === skill.number))
    console.log(`\n${number} ${title}`)
    console.log(`  missed: ${missed.map(({ name }) => name).join('; ')}`)
    for (const skill of extra) {
      const mentions = skill.mentions.map(({ start, end }) => text.slice(start, end)).join(', ')
      const why = notAsked.some((label) => label.number === skill.number)
        ? 'not required'
        : 'not mentioned as a requirement'
      console.log(`  ${why}: ${skill.name} ${skill.score.toFixed(2)} (${mentions})`)
    }
  }
}

if (import.meta.main) {
  if (process.argv.includes('--misses')) printMisses()
  else if (process.argv.includes('--json')) console.log(JSON.stringify(advertisementRows(), null, 2))
  else printRows('advertisement-quality', advertisementRows())
}
