/**
 * Measures the quality of `match` and `extract` on phrases and sentences of real advertisements, with ESCO as the catalogue.
 * For `match`: whether the annotated skill of a phrase is first (hit@1) or among the first five (hit@5), the share of annotated skills
 * among the first five (RP@5), and how well scores predict correctness. For `extract`: F1 of the annotated spans and, with the built-in
 * catalogue, of the skills required by our own job advertisements.
 */
import type { SkillEntry } from '../server/catalogue/index/labels/labels.ts'
import { buildSkillIndexSync, type SkillIndex } from '../server/catalogue/index/skill-index.ts'
import { advertisementRows } from './advertisement-quality.ts'
import { type Prediction, reliabilityRows } from './reliability.ts'
import {
  type BenchmarkOptions,
  type BenchmarkRow,
  runFromCommandLine,
  SKIP_REASONS_ALLOWED_IN_CI,
  skippedRow,
} from './support/benchmark.ts'
import { builtInSkills, escoSkills, hasSharedData, parseCsv, readSharedFile } from './support/skill-catalogues.ts'

interface AnnotatedPhrase {
  evaluationSet: string
  phrase: string
  /** Numbers of the annotated skills. */
  expectedNumbers: number[]
}

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
    ...reliabilityRows('match', matchPredictions(escoIndex, phrases)),
    ...spanRows('ESCO', escoIndex),
    ...spanRows('ESCO and built-in', combinedIndex),
    ...advertisementRows(),
  ]
}

/**
 * Reads the annotated phrases. A label that ESCO has renamed since is searched among the aliases; labels that no longer exist
 * count as not found.
 */
function readPhrases(skills: SkillEntry[]): AnnotatedPhrase[] {
  const byName = new Map(skills.map(({ name, number }) => [name.toLowerCase(), [number]]))
  const byAlias = new Map<string, number[]>()
  for (const { number, aliases } of skills)
    for (const alias of aliases) byAlias.set(alias.toLowerCase(), [...(byAlias.get(alias.toLowerCase()) ?? []), number])
  const phrases = new Map<string, AnnotatedPhrase>()
  for (const set of ['house', 'tech']) {
    for (const { sentence, span, sub_span, label } of parseCsv(readSharedFile(`eval/${set}_validation.csv`))) {
      if (!label || label === 'LABEL NOT PRESENT' || label === 'UNDERSPECIFIED') continue
      const phrase = sub_span || span!
      const key = `${set}\n${sentence}\n${phrase}`
      const annotatedPhrase = phrases.get(key) ?? { evaluationSet: set, phrase, expectedNumbers: [] }
      annotatedPhrase.expectedNumbers.push(
        ...(byName.get(label.toLowerCase()) ?? byAlias.get(label.toLowerCase()) ?? [-1]),
      )
      phrases.set(key, annotatedPhrase)
    }
  }
  return [...phrases.values()].map((annotatedPhrase) => ({
    ...annotatedPhrase,
    expectedNumbers: [...new Set(annotatedPhrase.expectedNumbers)],
  }))
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

function spanRows(name: string, index: SkillIndex): BenchmarkRow[] {
  let spanCount = 0
  let mentionCount = 0
  let exactCount = 0
  let overlappingMentions = 0
  let overlappedSpans = 0
  for (const { text, spans } of readSentences()) {
    const mentions = index.extract(text, 100).flatMap((skill) => skill.mentions)
    spanCount += spans.length
    mentionCount += mentions.length
    for (const mention of mentions) {
      if (spans.some(({ start, end }) => start === mention.start && end === mention.end)) exactCount++
      if (spans.some((span) => spansOverlap(span, mention))) overlappingMentions++
    }
    overlappedSpans += spans.filter((span) => mentions.some((mention) => spansOverlap(span, mention))).length
  }
  const [precision, recall] = [overlappingMentions / mentionCount, overlappedSpans / spanCount]
  return [
    {
      name: `extract, ${name}, span F1`,
      value: (2 * exactCount) / (mentionCount + spanCount),
      unit: '',
      note: `${spanCount} spans, exact bounds`,
    },
    { name: `extract, ${name}, span precision`, value: exactCount / mentionCount, unit: '' },
    { name: `extract, ${name}, span recall`, value: exactCount / spanCount, unit: '' },
    { name: `extract, ${name}, F1 of overlaps`, value: (2 * precision * recall) / (precision + recall), unit: '' },
  ]
}

function spansOverlap(a: { start: number; end: number }, b: { start: number; end: number }): boolean {
  return a.start < b.end && b.start < a.end
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
