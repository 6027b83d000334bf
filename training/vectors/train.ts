/**
 * Trains the word vectors of `match` and writes `data/models/word-vectors.bin`. See training/README.md.
 *
 *   node training/vectors/train.ts --data FOLDER --vectors FILE
 */
import { writeFileSync } from 'node:fs'
import { parseArgs } from 'node:util'
import { randomNumbers } from '../../bench/support/skill-catalogues.ts'
import { tokenize, wordHash } from '../../server/catalogue/index/text/tokens.ts'
import { serialiseWordVectors } from '../../server/catalogue/index/vectors/word-vectors.ts'
import { ContrastiveTrainer } from './contrastive.ts'
import { readWordVectors } from './glove.ts'
import { createPairs, readSkillTexts } from './phrase-pairs.ts'

const EPOCHS = 2
const BATCH_SIZE = 128
/** Cosines are multiplied by this before the softmax. */
const SCALE = 16
const LEARNING_RATE = 0.02
/** The most frequent words of GloVe are in the table even if no skill contains them. */
const FREQUENT_WORDS = 20_000
/** Words of skills are in the table if at least this many texts contain them, or if GloVe has them. */
const MIN_TEXTS_PER_NEW_WORD = 3
/** A frequent word weighs a / (a + p), where p is its share of all words, estimated from its rank by Zipf's law. */
const FREQUENCY_WEIGHT = 1e-3
const ZIPF_SHARE = 0.1
/** The longest vectors are clipped: this many standard deviations are 127 units. */
const CLIPPED_DEVIATIONS = 4

const { values: options } = parseArgs({
  options: { data: { type: 'string' }, vectors: { type: 'string' } },
})
if (!options.data || !options.vectors)
  throw new Error('--data and --vectors are required: the folder with esco/, and the file with the GloVe vectors.')

const random = randomNumbers(1)
const glove = readWordVectors(options.vectors)
const { dimensions } = glove
const skills = readSkillTexts(options.data)

const textCounts = new Map<string, number>()
for (const { name, aliases, description } of skills)
  for (const words of [name, ...aliases, description])
    for (const word of new Set(words)) textCounts.set(word, (textCounts.get(word) ?? 0) + 1)
const frequentWords = glove.words.slice(0, FREQUENT_WORDS).filter((word) => tokenize(word)[0] === word)
const isFrequent = new Set(frequentWords)
const words = [
  ...new Set([
    ...frequentWords,
    ...[...textCounts].flatMap(([word, count]) =>
      glove.numberOf(word) >= 0 || count >= MIN_TEXTS_PER_NEW_WORD ? [word] : [],
    ),
  ]),
]
  .map((word) => ({ word, hash: wordHash(word) }))
  .sort((a, b) => a.hash - b.hash)
  .filter(({ hash }, i, all) => hash !== all[i - 1]?.hash)
const rows = new Map(words.map(({ word }, row) => [word, row]))

const values = new Float32Array(words.length * dimensions)
words.forEach(({ word }, row) => {
  const number = glove.numberOf(word)
  const share = ZIPF_SHARE / (number + 2.7)
  const weight = number < 0 ? 1 : FREQUENCY_WEIGHT / (FREQUENCY_WEIGHT + share)
  for (let d = 0; d < dimensions; d++)
    values[row * dimensions + d] = number < 0 ? (random() - 0.5) * 0.1 : weight * glove.values[number * dimensions + d]!
})

const trainer = new ContrastiveTrainer(values, (word) => rows.get(word) ?? -1, {
  dimensions,
  batchSize: BATCH_SIZE,
  scale: SCALE,
  learningRate: LEARNING_RATE,
})
for (let epoch = 1; epoch <= EPOCHS; epoch++) {
  const pairs = createPairs(skills, random)
  console.log(`epoch ${epoch}: ${pairs.length} pairs, mean loss ${trainer.trainEpoch(pairs).toFixed(3)}`)
}

const deviation = Math.sqrt(values.reduce((sum, value) => sum + value ** 2, 0) / values.length)
const unit = (CLIPPED_DEVIATIONS * deviation) / 127
const englishBits = new Uint8Array(Math.ceil(words.length / 8))
words.forEach(({ word }, row) => {
  if (isFrequent.has(word)) englishBits[row >> 3]! |= 1 << (row & 7)
})
writeFileSync(
  new URL('../../data/models/word-vectors.bin', import.meta.url),
  serialiseWordVectors({
    dimensions,
    hashes: Int32Array.from(words, ({ hash }) => hash),
    englishBits,
    vectors: Int8Array.from(values, (value) => Math.max(-127, Math.min(127, Math.round(value / unit)))),
  }),
)
console.log(`${words.length} words, ${dimensions} dimensions`)
