/**
 * Measures the quality of `match` and `extract` on phrases and sentences of real advertisements, with ESCO as the catalogue.
 * For `match`: whether the annotated skill of a phrase is first (hit@1) or among the first five (hit@5), the share of annotated skills
 * among the first five (RP@5), and how well scores predict correctness. For `extract`: F1 of the annotated spans and, with the built-in
 * catalogue, of the skills required by our own job advertisements.
 */
import { buildSkillIndexSync, type SkillIndex } from '../server/catalogue/index/skill-index.ts'
import { crossValidate } from '../training/vectors/ranking-examples.ts'
import { advertisementRows } from './advertisement-quality.ts'
import { type Prediction, reliabilityRows } from './reliability.ts'
import { spanRows } from './span-quality.ts'
import { type AnnotatedPhrase, readPhrases } from './support/annotated-phrases.ts'
import {
  type BenchmarkOptions,
  type BenchmarkRow,
  runFromCommandLine,
  SKIP_REASONS_ALLOWED_IN_CI,
  skippedRow,
} from './support/benchmark.ts'
import { builtInSkills, escoSkills, hasSharedData, randomNumbers, readSharedFile } from './support/skill-catalogues.ts'

export async function runBenchmark({ short }: BenchmarkOptions): Promise<BenchmarkRow[]> {
  if (!hasSharedData)
    return [
      skippedRow('ESCO and the evaluation sets', SKIP_REASONS_ALLOWED_IN_CI.evaluationData),
      ...advertisementRows(),
    ]
  if (short) return advertisementRows()
  const skills = escoSkills()
  const escoIndex = buildSkillIndexSync(skills)
  const phrases = readPhrases(skills)
  const combinedIndex = buildSkillIndexSync([...builtInSkills(), ...skills])
  const sentences = readSentences()
  return [
    ...matchRows('all phrases', escoIndex, phrases),
    ...matchRows(
      'house',
      escoIndex,
      phrases.filter(({ evaluationSet }) => evaluationSet === 'house'),
    ),
    ...matchRows(
      'tech',
      escoIndex,
      phrases.filter(({ evaluationSet }) => evaluationSet === 'tech'),
    ),
    ...matchRows(
      'first half',
      escoIndex,
      phrases.filter(({ phrase }) => isInFirstHalf(phrase)),
    ),
    ...matchRows(
      'second half',
      escoIndex,
      phrases.filter(({ phrase }) => !isInFirstHalf(phrase)),
    ),
    ...crossValidatedRows(escoIndex, phrases),
    ...reliabilityRows('match', matchPredictions(escoIndex, phrases)),
    ...sentenceRows('ESCO', escoIndex, phrases),
    ...sentenceRows('ESCO and built-in', combinedIndex, phrases),
    ...spanRows('extract, ESCO', escoIndex, sentences),
    ...spanRows('extract, ESCO and built-in', combinedIndex, sentences),
    ...advertisementRows(),
  ]
}

/** Splits the phrases into the same halves in every run; the difference of their results shows the noise. */
function isInFirstHalf(phrase: string): boolean {
  let sum = 7
  for (const letter of phrase.toLowerCase()) sum = (Math.imul(sum, 31) + letter.charCodeAt(0)) | 0
  return ((sum >>> 3) & 1) === 1
}

function matchRows(name: string, index: SkillIndex, phrases: AnnotatedPhrase[]): BenchmarkRow[] {
  let hitsAt1 = 0
  let hitsAt5 = 0
  let precision = 0
  for (const { phrase, expectedNumbers } of phrases) {
    const matchedNumbers = index.match(phrase, 5).map(({ number }) => number)
    const correctCount = expectedNumbers.filter((number) => matchedNumbers.includes(number)).length
    if (expectedNumbers.includes(matchedNumbers[0]!)) hitsAt1++
    if (correctCount > 0) hitsAt5++
    precision += correctCount / Math.min(5, expectedNumbers.length)
  }
  const perPhrase = (sum: number) => sum / phrases.length
  return [
    { name: `match, ${name}, hit@1`, value: perPhrase(hitsAt1), unit: '', note: `${phrases.length} phrases` },
    { name: `match, ${name}, hit@5`, value: perPhrase(hitsAt5), unit: '' },
    { name: `match, ${name}, RP@5`, value: perPhrase(precision), unit: '' },
  ]
}

/** Number of resampled sets of phrases from which the 95 % intervals are derived. */
const RESAMPLED_SETS = 1000

/** Returns the results of ranking weights and scores that were fitted without the sentence of the phrase. */
function crossValidatedRows(index: SkillIndex, phrases: AnnotatedPhrase[]): BenchmarkRow[] {
  const results = crossValidate(index, phrases)
  const share = (name: string, values: number[]): BenchmarkRow => {
    const [low, high] = confidenceInterval(values)
    const interval = `95 % interval ${low.toFixed(3)} to ${high.toFixed(3)}`
    return { name: `match, cross-validated, ${name}`, value: meanOf(values), unit: '', note: interval }
  }
  return [
    share(
      'hit@1',
      results.map(({ rank }) => (rank === 0 ? 1 : 0)),
    ),
    share(
      'hit@5',
      results.map(({ rank }) => (rank < 5 ? 1 : 0)),
    ),
    share(
      'mean reciprocal rank',
      results.map(({ rank }) => 1 / (rank + 1)),
    ),
    ...reliabilityRows(
      'match, cross-validated',
      results.flatMap(({ predictions }) => predictions),
    ),
  ]
}

function meanOf(values: readonly number[]): number {
  return values.reduce((sum, value) => sum + value, 0) / values.length
}

/** Returns the bounds of the 95 % interval of the mean, by resampling (bootstrap). */
function confidenceInterval(values: readonly number[]): [number, number] {
  const random = randomNumbers(1)
  const means = Array.from({ length: RESAMPLED_SETS }, () =>
    meanOf(values.map(() => values[Math.floor(random() * values.length)]!)),
  ).sort((a, b) => a - b)
  return [means[Math.floor(RESAMPLED_SETS * 0.025)]!, means[Math.ceil(RESAMPLED_SETS * 0.975) - 1]!]
}

/** Measures whole sentences: the share of the skills of a sentence among the first five and ten results, for match and extract. */
function sentenceRows(name: string, index: SkillIndex, phrases: AnnotatedPhrase[]): BenchmarkRow[] {
  const numbersBySentence = new Map<string, Set<number>>()
  for (const { evaluationSet, sentence, expectedNumbers } of phrases) {
    const key = `${evaluationSet}\n${sentence}`
    numbersBySentence.set(key, new Set([...(numbersBySentence.get(key) ?? []), ...expectedNumbers]))
  }
  const rows: BenchmarkRow[] = []
  for (const set of ['house', 'tech'])
    for (const operation of ['match', 'extract'] as const) {
      const results = [...numbersBySentence].flatMap(([key, expected]) => {
        const [sentenceSet, sentence] = key.split('\n') as [string, string]
        return sentenceSet === set
          ? [{ found: index[operation](sentence, 10).map(({ number }) => number), expected }]
          : []
      })
      for (const limit of [5, 10])
        rows.push({
          name: `${operation}, ${name}, sentences of ${set}, RP@${limit}`,
          value: meanOf(
            results.map(
              ({ found, expected }) =>
                found.slice(0, limit).filter((number) => expected.has(number)).length / Math.min(limit, expected.size),
            ),
          ),
          unit: '',
          note: `${results.length} sentences`,
        })
    }
  return rows
}

/** Returns the first five matches of each phrase, with whether they are correct. */
function matchPredictions(index: SkillIndex, phrases: AnnotatedPhrase[]): Prediction[] {
  return phrases.flatMap(({ phrase, expectedNumbers }) =>
    index.match(phrase, 5).map(({ number, score }) => ({ score, correct: expectedNumbers.includes(number) })),
  )
}

interface Sentence {
  text: string
  spans: { start: number; end: number }[]
}

/** Reads the sentences of SkillSpan, with tokens joined by spaces and the spans of skills and knowledge. */
function readSentences(): Sentence[] {
  return readSharedFile('eval/skillspan_dev.jsonl')
    .trim()
    .split('\n')
    .map((line) => {
      const { tokens, tags_skill, tags_knowledge } = JSON.parse(line) as Record<string, string[]>
      const starts: number[] = []
      let text = ''
      for (const token of tokens!) {
        if (text) text += ' '
        starts.push(text.length)
        text += token
      }
      const spans: Sentence['spans'] = []
      for (const tags of [tags_skill!, tags_knowledge!]) {
        tags.forEach((tag, i) => {
          if (tag === 'B') spans.push({ start: starts[i]!, end: starts[i]! + tokens![i]!.length })
          else if (tag === 'I') spans.at(-1)!.end = starts[i]! + tokens![i]!.length
        })
      }
      return { text, spans }
    })
}

if (import.meta.main) await runFromCommandLine('skill-quality', runBenchmark)
