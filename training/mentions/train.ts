/**
 * Fits the weights of `server/catalogue/index/extract/mention-probability.ts` to the advertisements in `bench/` with odd numbers, and
 * prints them with the results of a cross-validation. See training/README.md.
 *
 *   node training/mentions/train.ts [--ablation]
 */
import {
  type Advertisement,
  isForTuning,
  readAdvertisements,
  readMarkedAdvertisements,
} from '../../bench/support/advertisements.ts'
import { builtInSkills } from '../../bench/support/skill-catalogues.ts'
import type { MentionExample } from '../../server/catalogue/index/extract/extract.ts'
import { tradeTerms } from '../../server/catalogue/index/lexicon/lexicon.ts'
import { buildSkillIndexSync } from '../../server/catalogue/index/skill-index.ts'
import { fitProbability } from '../vectors/linear-models.ts'

const L2 = 0.0005
const FOLD_COUNT = 5
const KINDS = ['label', 'clause'] as const
type Kind = (typeof KINDS)[number]
type Weights = Record<Kind, number[]>

/** The features in the order of mention-probability.ts. */
const FEATURE_NAMES: Record<Kind, string[]> = {
  label: ['score', 'density', 'margin', 'repetitions', 'lack', 'sub-skill'],
  clause: ['score', 'rank', 'label', 'lack', 'sub-skill', 'lack of general'],
}

interface TextExamples {
  set: 'first' | 'marked'
  fold: number
  requiredCount: number
  examples: (MentionExample & { isCorrect: boolean })[]
}
// Without these terms, because many were added while reading the same advertisements: their scores would be too high for other texts.
;(tradeTerms() as Map<string, readonly string[]>).clear()
const index = buildSkillIndexSync(builtInSkills())
const texts: TextExamples[] = [
  ...readAdvertisements()
    .filter(isForTuning)
    .map((advertisement) => examplesOf('first', advertisement)),
  ...readMarkedAdvertisements()
    .filter(isForTuning)
    .map((advertisement) => examplesOf('marked', advertisement)),
]

function examplesOf(set: TextExamples['set'], { number, text, requiredSkills }: Advertisement): TextExamples {
  const requiredNumbers = new Set(requiredSkills.map((label) => label.number))
  return {
    set,
    fold: (number >> 1) % FOLD_COUNT,
    requiredCount: requiredNumbers.size,
    examples: index
      .mentionExamples(text)
      .map((example) => ({ ...example, isCorrect: requiredNumbers.has(index.numberOf(example.entryIndex)) })),
  }
}

function fit(training: readonly TextExamples[], leftOut?: string): Weights {
  const fitKind = (kind: Kind) => {
    const examples = training.flatMap((text) => text.examples).filter((example) => example.kind === kind)
    return fitProbability(
      examples.map(({ features }) => usedFeatures(kind, features, leftOut)),
      examples.map(({ isCorrect }) => isCorrect),
      L2,
    )
  }
  return { label: fitKind('label'), clause: fitKind('clause') }
}

const usedFeatures = (kind: Kind, features: readonly number[], leftOut?: string) =>
  features.map((feature, i) => (`${kind} ${FEATURE_NAMES[kind][i]}` === leftOut ? 0 : feature))

function probability(features: readonly number[], weights: readonly number[]): number {
  return 1 / (1 + Math.exp(-features.reduce((sum, feature, i) => sum + feature * weights[i]!, weights.at(-1)!)))
}

/** Returns the mean of the logarithmic losses per text, and F1 of the skills with a probability of at least a half. */
function crossValidate(set: TextExamples['set'], leftOut?: string): { loss: number; f1: number } {
  let [loss, extracted, correct, required] = [0, 0, 0, 0]
  for (let fold = 0; fold < FOLD_COUNT; fold++) {
    const weights = fit(
      texts.filter((text) => text.fold !== fold),
      leftOut,
    )
    for (const { examples, requiredCount } of texts.filter((text) => text.fold === fold && text.set === set)) {
      const found = new Map<number, boolean>()
      for (const { kind, entryIndex, features, isCorrect } of examples) {
        const estimate = probability(usedFeatures(kind, features, leftOut), weights[kind])
        loss -= Math.log(isCorrect ? estimate : 1 - estimate)
        if (estimate >= 0.5) found.set(entryIndex, isCorrect)
      }
      extracted += found.size
      correct += [...found.values()].filter(Boolean).length
      required += requiredCount
    }
  }
  const count = texts.filter((text) => text.set === set).length
  return { loss: loss / count, f1: (2 * correct) / (extracted + required) }
}

const weights = fit(texts)
for (const kind of KINDS)
  console.log(`${kind}: [${weights[kind].map((weight) => Number(weight.toFixed(3))).join(', ')}]`)
const leftOut = process.argv.includes('--ablation')
  ? [undefined, ...KINDS.flatMap((kind) => FEATURE_NAMES[kind].map((name) => `${kind} ${name}`))]
  : [undefined]
for (const name of leftOut)
  for (const set of ['marked', 'first'] as const) {
    const { loss, f1 } = crossValidate(set, name)
    console.log(`${set}, ${name ? `without ${name}` : 'all features'}: loss ${loss.toFixed(3)}, F1 ${f1.toFixed(3)}`)
  }
