/**
 * Measures the quality of `extract` on Indian job advertisements with the built-in catalogue: precision and recall of the skills
 * that the employer requires, and how well scores predict correctness. The half of the advertisements that is used for tuning and
 * the held-out half are measured separately. Prints a table, or JSON with --json; --misses lists the errors in the tuning half.
 */
import { buildSkillIndexSync, type SkillIndex } from '../server/catalogue/index/skill-index.ts'
import { type Prediction, reliabilityRows } from './reliability.ts'
import { spanRows } from './span-quality.ts'
import {
  type Advertisement,
  isForTuning,
  readAdvertisements,
  readMarkedAdvertisements,
} from './support/advertisements.ts'
import { type BenchmarkRow, printRows } from './support/benchmark.ts'
import { builtInSkills } from './support/skill-catalogues.ts'

const MAX_SKILLS = 25
/** Skills with at least this score count as extracted in the rows "score at least". */
const MIN_SCORE = 0.5

export function advertisementRows(): BenchmarkRow[] {
  const index = buildSkillIndexSync(builtInSkills())
  const markedAdvertisements = readMarkedAdvertisements()
  return [
    ...rowsByHalf('advertisements', index, readAdvertisements()),
    ...rowsByHalf('marked advertisements', index, markedAdvertisements),
    ...Object.entries(halvesOf(markedAdvertisements)).flatMap(([half, advertisements]) =>
      spanRows(
        `marked advertisements, ${half}`,
        index,
        advertisements.map(({ text, spans }) => ({ text, spans: spans.flat() })),
      ),
    ),
  ]
}

function rowsByHalf(name: string, index: SkillIndex, advertisements: Advertisement[]): BenchmarkRow[] {
  return Object.entries(halvesOf(advertisements)).flatMap(([half, part]) => [
    ...skillRows(`${name}, ${half}, first ${MAX_SKILLS}`, index, part, 0),
    ...skillRows(`${name}, ${half}, score at least ${MIN_SCORE}`, index, part, MIN_SCORE),
    ...reliabilityRows(`${name}, ${half}`, extractPredictions(index, part)),
  ])
}

function halvesOf<T extends Advertisement>(advertisements: T[]): { tuning: T[]; 'held out': T[] } {
  return {
    tuning: advertisements.filter(isForTuning),
    'held out': advertisements.filter((advertisement) => !isForTuning(advertisement)),
  }
}

function skillRows(name: string, index: SkillIndex, advertisements: Advertisement[], minScore: number): BenchmarkRow[] {
  let extractedCount = 0
  let requiredCount = 0
  let correctCount = 0
  let excludedCount = 0
  let wronglyExtractedCount = 0
  for (const { text, requiredSkills, excludedSkills } of advertisements) {
    const skillNumbers = extractSkillNumbers(index, text, minScore)
    extractedCount += skillNumbers.size
    requiredCount += requiredSkills.length
    correctCount += requiredSkills.filter(({ number }) => skillNumbers.has(number)).length
    excludedCount += excludedSkills.length
    wronglyExtractedCount += excludedSkills.filter(({ number }) => skillNumbers.has(number)).length
  }
  const note = `${advertisements.length} advertisements, ${requiredCount} required skills, ${extractedCount} extracted`
  return [
    { name: `${name}, precision`, value: correctCount / extractedCount, unit: '', note },
    { name: `${name}, recall`, value: correctCount / requiredCount, unit: '' },
    { name: `${name}, F1`, value: (2 * correctCount) / (extractedCount + requiredCount), unit: '' },
    {
      name: `${name}, extracted though not required`,
      value: wronglyExtractedCount / excludedCount,
      unit: '',
      note: `of ${excludedCount} skills that the texts mention but do not require`,
    },
  ]
}

function extractPredictions(index: SkillIndex, advertisements: Advertisement[]): Prediction[] {
  return advertisements.flatMap(({ text, requiredSkills }) =>
    index
      .extract(text, MAX_SKILLS)
      .map(({ number, score }) => ({ score, correct: requiredSkills.some((label) => label.number === number) })),
  )
}

function extractSkillNumbers(index: SkillIndex, text: string, minScore: number): Set<number> {
  const skills = index.extract(text, MAX_SKILLS).filter(({ score }) => score >= minScore)
  return new Set(skills.map(({ number }) => number))
}

/** Prints the extraction errors in the tuning half of the advertisements. The held-out half is never shown. */
function printMisses(): void {
  const index = buildSkillIndexSync(builtInSkills())
  for (const { number, title, text, requiredSkills, excludedSkills } of readAdvertisements().filter(isForTuning)) {
    const skills = index.extract(text, MAX_SKILLS)
    const missedSkills = requiredSkills.filter((label) => !skills.some((skill) => skill.number === label.number))
    const extraSkills = skills.filter((skill) => !requiredSkills.some((label) => label.number === skill.number))
    console.log(`\n${number} ${title}`)
    console.log(`  missed: ${missedSkills.map(({ name }) => name).join('; ')}`)
    for (const skill of extraSkills) {
      const mentions = skill.mentions.map(({ start, end }) => text.slice(start, end)).join(', ')
      const reason = excludedSkills.some((label) => label.number === skill.number)
        ? 'not required'
        : 'not mentioned as a requirement'
      console.log(`  ${reason}: ${skill.name} ${skill.score.toFixed(2)} (${mentions})`)
    }
  }
}

if (import.meta.main) {
  if (process.argv.includes('--misses')) printMisses()
  else if (process.argv.includes('--json')) console.log(JSON.stringify(advertisementRows(), null, 2))
  else printRows('advertisement-quality', advertisementRows())
}
