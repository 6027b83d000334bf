/**
 * Trains the span tagger and writes `data/models/span-tagger.bin`. See training/README.md.
 *
 *   node training/spans/train.ts --data FOLDER --vectors FILE [--held-out even|odd]
 *
 * With --held-out, neither the development part of SkillSpan nor the advertisements with even (or odd) numbers are used for training.
 * The model is then written to the folder `.training` instead of data/models, to measure it on the data that was left out.
 */
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { parseArgs } from 'node:util'
import {
  type Advertisement,
  isForTuning,
  readAdvertisements,
  readMarkedAdvertisements,
} from '../../bench/support/advertisements.ts'
import { builtInSkills, parseCsv, randomNumbers } from '../../bench/support/skill-catalogues.ts'
import {
  serialiseSpanModel,
  TRANSITION_COUNT,
  WEIGHTS_PER_ROW,
  WEIGHTS_PER_WORD,
} from '../../server/catalogue/index/extract/spans/span-model.ts'
import { COMMA_GAP, GAP_KIND_COUNT, SENTENCE_GAP } from '../../server/catalogue/index/extract/spans/token-context.ts'
import { ROLE_COUNT, SENTENCE_WORD, wordFeature } from '../../server/catalogue/index/extract/spans/word-features.ts'
import type { SkillEntry } from '../../server/catalogue/index/labels/labels.ts'
import { buildSkillIndexSync } from '../../server/catalogue/index/skill-index.ts'
import { tokenize, wordHash } from '../../server/catalogue/index/text/tokens.ts'
import { readWordVectors, type WordVectors } from '../vectors/glove.ts'
import { readSkillSpan } from './corpus.ts'
import { Crf, type Example } from './crf.ts'
import { advertisementExample, pruneRareRows, ROW_BITS, ROW_COUNT, sentenceExample } from './examples.ts'

const EPOCHS = 6
const LEARNING_RATE = 0.1
const L2 = 1e-4
/** Features of fewer tokens are left out. */
const MIN_TOKENS_PER_ROW = 2
/** Share of the steps in which the labels of ESCO alone are marked, so that the model does not rely on the built-in catalogue. */
const ESCO_ONLY_SHARE = 0.3
/** Added to the scores of B and I. More spans are found, so that recall is about as high as precision. */
const SPAN_BIAS = 0.4
/** Number of the first ESCO skill; skills with lower numbers are built in. */
const FIRST_IMPORTED_NUMBER = 1_000_000
/** Units per 1 in the file. Weights are clipped to ±127 units. */
const SCALE = 32
/** The most frequent words whose vectors are folded into the weights, in addition to the words of the training data. */
const MAX_FREQUENT_WORDS = 12_000

const { values: options } = parseArgs({
  options: { data: { type: 'string' }, vectors: { type: 'string' }, 'held-out': { type: 'string' } },
})
if (!options.data || !options.vectors)
  throw new Error(
    '--data and --vectors are required: the folder with eval/ and esco/, and the file with the GloVe vectors.',
  )

const random = randomNumbers(1)
const vectors = readWordVectors(options.vectors)
const builtIn = builtInSkills()
const esco: SkillEntry[] = parseCsv(
  readFileSync(`${options.data}/esco/skills_en.csv`, 'utf8').replace(/^\uFEFF/, ''),
).map((row, i) => ({
  number: FIRST_IMPORTED_NUMBER + i,
  name: row.preferredLabel!,
  aliases: row.altLabels!.split('\n').filter(Boolean),
}))
const builtInIndex = buildSkillIndexSync(builtIn)
const escoIndex = buildSkillIndexSync(esco)
const combinedIndex = buildSkillIndexSync([...builtIn, ...esco])

const sentences = [
  ...readSkillSpan(`${options.data}/eval/skillspan_train.jsonl`),
  ...(options['held-out'] ? [] : readSkillSpan(`${options.data}/eval/skillspan_dev.jsonl`)),
]
const isUsed = (advertisement: Advertisement) =>
  !options['held-out'] || isForTuning(advertisement) === (options['held-out'] === 'even')
const markedAdvertisements = readMarkedAdvertisements().filter(isUsed)
const advertisements = readAdvertisements()
  .filter(isUsed)
  .map(({ text, requiredSkills, excludedSkills }) => ({
    text,
    requiredNumbers: new Set(requiredSkills.map(({ number }) => number)),
    excludedNumbers: new Set(excludedSkills.map(({ number }) => number)),
  }))

const trainingWords = new Set(
  [...sentences, ...markedAdvertisements, ...advertisements].flatMap(({ text }) => tokenize(text)),
)

/** Each item has one example per catalogue whose labels are marked. */
const examples: Example[][] = [
  ...sentences.map((sentence) => [
    sentenceExample(sentence, combinedIndex, vectors),
    sentenceExample(sentence, escoIndex, vectors),
  ]),
  ...markedAdvertisements.map((advertisement) => [sentenceExample(advertisement, builtInIndex, vectors)]),
  ...advertisements.map((advertisement) => [advertisementExample(advertisement, builtInIndex, vectors)]),
]
pruneRareRows(examples.flat(), MIN_TOKENS_PER_ROW * 2)

const crf = new Crf({
  rowCount: 2 * ROW_COUNT,
  gapKindCount: GAP_KIND_COUNT,
  firstHardGap: COMMA_GAP,
  sentenceGap: SENTENCE_GAP,
  vectors: vectors.values,
  dimensions: vectors.dimensions,
  learningRate: LEARNING_RATE,
  l2: L2,
  denseL2: L2,
})
for (let epoch = 1; epoch <= EPOCHS; epoch++) {
  for (let i = examples.length - 1; i > 0; i--) {
    const other = Math.floor(random() * (i + 1))
    ;[examples[i], examples[other]] = [examples[other]!, examples[i]!]
  }
  let loss = 0
  for (const [example, escoExample] of examples)
    loss += crf.train(escoExample && random() < ESCO_ONLY_SHARE ? escoExample : example!)
  console.log(`epoch ${epoch}: mean loss ${(loss / examples.length).toFixed(3)}`)
}

const folder = new URL(options['held-out'] ? '../../.training/' : '../../data/models/', import.meta.url)
mkdirSync(folder, { recursive: true })
writeFileSync(new URL('span-tagger.bin', folder), quantise(crf, vectors))

/** Folds the word vectors into the weights of the words, and rounds all weights. */
function quantise(model: Crf, wordVectors: WordVectors): Uint8Array {
  const round = (weight: number) => Math.max(-127, Math.min(127, Math.round(weight * SCALE)))
  const hashedWords = [...knownWords()]
    .map((word) => ({ word, hash: wordHash(word) }))
    .sort((a, b) => a.hash - b.hash)
    .filter(({ hash }, i, all) => hash !== all[i - 1]?.hash)
  const words = new Int8Array(hashedWords.length * WEIGHTS_PER_WORD)
  hashedWords.forEach(({ word, hash }, i) => {
    const vector = wordVectors.numberOf(word)
    for (let role = 0; role < ROLE_COUNT; role++) {
      const row = ((wordFeature(role, hash) >>> (32 - ROW_BITS)) + ROW_COUNT) * WEIGHTS_PER_ROW
      for (let o = 0; o < WEIGHTS_PER_ROW; o++) {
        const vectorScore = vector < 0 || role === SENTENCE_WORD ? 0 : model.vectorScore(vector, role, o)
        const trainedWeight = trainingWords.has(word) ? model.weights[row + o]! : 0
        words[i * WEIGHTS_PER_WORD + role * WEIGHTS_PER_ROW + o] = round(trainedWeight + vectorScore)
      }
    }
  })
  const rows = Int8Array.from(model.weights.subarray(0, ROW_COUNT * WEIGHTS_PER_ROW), round)
  const transitions = new Int16Array(TRANSITION_COUNT)
  model.transitions.forEach((weight, i) => {
    transitions[i] = Math.round((weight + (i % 3 === 0 ? 0 : SPAN_BIAS)) * SCALE)
  })
  return serialiseSpanModel({
    scale: SCALE,
    transitions,
    rows,
    wordHashes: Int32Array.from(hashedWords, ({ hash }) => hash),
    words,
  })
}

/** Words of the training data and the catalogues, and the most frequent words. */
function knownWords(): Set<string> {
  const words = new Set(vectors.words.slice(0, MAX_FREQUENT_WORDS).filter((word) => tokenize(word)[0] === word))
  for (const word of trainingWords) words.add(word)
  for (const { name, aliases } of [...builtIn, ...esco])
    for (const label of [name, ...aliases])
      for (const word of tokenize(label)) if (vectors.numberOf(word) >= 0) words.add(word)
  return words
}
