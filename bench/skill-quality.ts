/**
 * How good match and extract are on phrases and sentences of real advertisements, with ESCO as the catalogue. Match: whether the
 * skill that people gave a phrase is the first (hit@1) or among the first five (hit@5), and the share of such skills among five
 * (RP@5); how far its scores are from how often they are right. Extract: F1 of the spans that people marked; and, with the
 * built-in catalogue, of the skills that job advertisements of our own writing ask for. Prints a table, or JSON with --json.
 */
import type { SkillEntry } from '../server/catalogue/index/labels/labels.ts'
import { buildSkillIndexAtOnce, type SkillIndex } from '../server/catalogue/index/skill-index.ts'
import { advertisementRows } from './advertisement-quality.ts'
import { type Answer, reliabilityRows } from './reliability.ts'
import { printRows, type Row } from './support/rows.ts'
import { builtIn, esco, hasSharedData, parseCsv, sharedFile } from './support/skill-catalogues.ts'

interface Question {
  set: string
  phrase: string
  /** Numbers of the skills that people gave it. */
  wanted: number[]
}

export async function run(): Promise<Row[]> {
  if (!hasSharedData)
    return [
      { name: 'ESCO and the evaluation sets', value: 0, unit: '', note: 'not there: only our own advertisements' },
      ...advertisementRows(),
    ]
  const skills = esco()
  const index = buildSkillIndexAtOnce(skills)
  const questions = readQuestions(skills)
  const both = buildSkillIndexAtOnce([...builtIn(), ...skills])
  return [
    ...matchRows('all phrases', index, questions),
    ...matchRows(
      'house',
      index,
      questions.filter(({ set }) => set === 'house'),
    ),
    ...matchRows(
      'tech',
      index,
      questions.filter(({ set }) => set === 'tech'),
    ),
    ...matchRows(
      'first half',
      index,
      questions.filter(({ phrase }) => isInFirstHalf(phrase)),
    ),
    ...matchRows(
      'second half',
      index,
      questions.filter(({ phrase }) => !isInFirstHalf(phrase)),
    ),
    ...reliabilityRows('match', matchAnswers(index, questions)),
    ...spanRows('ESCO', index),
    ...spanRows('ESCO and our own', both),
    ...advertisementRows(),
  ]
}

/** The phrases of the sets. A label that ESCO has renamed is looked up among the aliases; some are gone and count as missed. */
function readQuestions(skills: SkillEntry[]): Question[] {
  const byName = new Map(skills.map(({ name, number }) => [name.toLowerCase(), [number]]))
  const byAlias = new Map<string, number[]>()
  for (const { number, aliases } of skills)
    for (const alias of aliases) byAlias.set(alias.toLowerCase(), [...(byAlias.get(alias.toLowerCase()) ?? []), number])
  const questions = new Map<string, Question>()
  for (const set of ['house', 'tech']) {
    for (const { sentence, span, sub_span, label } of parseCsv(sharedFile(`eval/${set}_validation.csv`))) {
      if (!label || label === 'LABEL NOT PRESENT' || label === 'UNDERSPECIFIED') continue
      const phrase = sub_span || span!
      const key = `${set}\n${sentence}\n${phrase}`
      const question = questions.get(key) ?? { set, phrase, wanted: [] }
      question.wanted.push(...(byName.get(label.toLowerCase()) ?? byAlias.get(label.toLowerCase()) ?? [-1]))
      questions.set(key, question)
    }
  }
  return [...questions.values()].map((question) => ({ ...question, wanted: [...new Set(question.wanted)] }))
}

/** Parts the phrases in two, the same in every run, to see how far chance goes. */
function isInFirstHalf(phrase: string): boolean {
  let sum = 7
  for (const letter of phrase.toLowerCase()) sum = (Math.imul(sum, 31) + letter.charCodeAt(0)) | 0
  return ((sum >>> 3) & 1) === 1
}

function matchRows(name: string, index: SkillIndex, questions: Question[]): Row[] {
  let first = 0
  let five = 0
  let precision = 0
  for (const { phrase, wanted } of questions) {
    const numbers = index.match(phrase, 5).map(({ number }) => number)
    const right = wanted.filter((number) => numbers.includes(number)).length
    if (wanted.includes(numbers[0]!)) first++
    if (right > 0) five++
    precision += right / Math.min(5, wanted.length)
  }
  const of = (sum: number) => sum / questions.length
  return [
    { name: `match, ${name}, hit@1`, value: of(first), unit: '', note: `${questions.length} phrases` },
    { name: `match, ${name}, hit@5`, value: of(five), unit: '' },
    { name: `match, ${name}, RP@5`, value: of(precision), unit: '' },
  ]
}

/** How often the first five answers to each phrase are right. */
function matchAnswers(index: SkillIndex, questions: Question[]): Answer[] {
  return questions.flatMap(({ phrase, wanted }) =>
    index.match(phrase, 5).map(({ number, score }) => ({ score, right: wanted.includes(number) })),
  )
}

interface Sentence {
  text: string
  spans: { start: number; end: number }[]
}

function spanRows(name: string, index: SkillIndex): Row[] {
  let marked = 0
  let mentioned = 0
  let exact = 0
  let touching = 0
  let touched = 0
  for (const { text, spans } of readSentences()) {
    const mentions = index.extract(text, 100).flatMap((skill) => skill.mentions)
    marked += spans.length
    mentioned += mentions.length
    for (const mention of mentions) {
      if (spans.some(({ start, end }) => start === mention.start && end === mention.end)) exact++
      if (spans.some((span) => overlap(span, mention))) touching++
    }
    touched += spans.filter((span) => mentions.some((mention) => overlap(span, mention))).length
  }
  const [precision, recall] = [touching / mentioned, touched / marked]
  return [
    {
      name: `extract, ${name}, span F1`,
      value: (2 * exact) / (mentioned + marked),
      unit: '',
      note: `${marked} spans, exact bounds`,
    },
    { name: `extract, ${name}, span precision`, value: exact / mentioned, unit: '' },
    { name: `extract, ${name}, span recall`, value: exact / marked, unit: '' },
    { name: `extract, ${name}, F1 of overlaps`, value: (2 * precision * recall) / (precision + recall), unit: '' },
  ]
}

function overlap(a: { start: number; end: number }, b: { start: number; end: number }): boolean {
  return a.start < b.end && b.start < a.end
}

/** SkillSpan's sentences, tokens joined by spaces, with the spans of skills and of knowledge. */
function readSentences(): Sentence[] {
  return sharedFile('eval/skillspan_dev.jsonl')
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

if (import.meta.main) {
  const rows = await run()
  if (process.argv.includes('--json')) console.log(JSON.stringify(rows, null, 2))
  else printRows('skill-quality', rows)
}
