import { ALIAS, type Labels } from '../labels/labels.ts'
import type { NearWords } from '../labels/near-words.ts'
import { LENGTH_MASK, type Postings } from '../labels/postings.ts'
import type { Ranking } from '../labels/ranking.ts'
import { MAX_SHORT_FORM_WORDS, shortForms, stopWords } from '../lexicon/lexicon.ts'
import type { SlicedTask } from '../text/time-slicing.ts'
import { tokenize } from '../text/tokens.ts'
import { stripApplicantWords } from './applicant-words.ts'
import { calibratedScore, type MatchMethod, type Similarity } from './calibration.ts'
import type { Paraphrases } from './paraphrases.ts'
import { IS_SYNONYM, isStopPhrase, PhraseWord, SIMILARITY_MASK, stemWeight } from './phrase-words.ts'
import { replaceSpokenPhrases } from './spoken-phrases.ts'

/**
 * Matches a phrase with the skills that it may mean. A phrase and a label are compared word by word: the same stem counts in
 * full, a typo or a paraphrase for less, and every word is weighted by its rarity in the catalogue. Their overlap is the
 * geometric mean of the matched part of both sides. The similarity of a skill is the overlap of its best label and part of the
 * overlap of its name. The score is the probability that a candidate this similar is right (calibration.ts).
 */

export interface MatchCandidate {
  entry: number
  score: number
  method: MatchMethod
}

const MAX_PHRASE_WORDS = 16
const MAX_VARIANTS = 3
/** A short form is written out only if at most this many other words are in the phrase. */
const MAX_WORDS_AROUND_SHORT_FORM = 5
/** Limits of the two steps: postings read to find candidates, and candidates compared word by word. */
const MAX_POSTINGS_READ = 20_000
const MAX_COMPARED_SKILLS = 192
const MIN_OVERLAP = 0.3

const NAME_BONUS = 0.06
const NAME_OVERLAP_FACTOR = 0.3
const EXACT_NAME_BONUS = 0.3
const EXACT_ALIAS_BONUS = 0.15
/** Factor for a phrase that was respelt or reworded. */
const VARIANT_FACTOR = 0.95
/** Weight of one thousandth of the prior, which ranks general skills first among equally similar ones. */
const PRIOR_WEIGHT = 0.0009
/** Weight of a stop word at the beginning or end of a label, where it links nothing: "AT welding". */
const EDGE_STOP_WORD_WEIGHT = 2

/** Variants of a phrase: as written, with words joined or split, with other words of the same meaning. */
const AS_WRITTEN = 0
const RESPELT = 1
const REWORDED = 2
/** A phrase of stop words, which matches only a label that is equal to it. */
const EXACT_ONLY = 3

export class Matcher {
  private readonly labels: Labels
  private readonly postings: Postings
  private readonly nearWords: NearWords
  private readonly paraphrases: Paraphrases
  private readonly ranking: Ranking
  private readonly priors: Uint8Array
  private readonly weights: Float32Array
  /** By skill: the part of the phrase's weight that it contains, and the last round in which it was counted. */
  private readonly sums: Float32Array
  private readonly lastRound: Int32Array
  private readonly touched: Int32Array
  private round = 0
  private readonly pool: PhraseWord[] = []
  private readonly bestMarks = new Uint8Array(MAX_PHRASE_WORDS)
  /** Whether the label that was compared last matches through a synonym. */
  private usedSynonym = false

  constructor(
    labels: Labels,
    postings: Postings,
    nearWords: NearWords,
    paraphrases: Paraphrases,
    weights: Float32Array,
    ranking: Ranking,
    priors: Uint8Array,
  ) {
    this.labels = labels
    this.postings = postings
    this.nearWords = nearWords
    this.paraphrases = paraphrases
    this.ranking = ranking
    this.priors = priors
    this.sums = new Float32Array(labels.names.length)
    this.lastRound = new Int32Array(labels.names.length)
    this.touched = new Int32Array(labels.names.length)
    this.weights = weights
  }

  match(phrase: string, limit: number): MatchCandidate[] {
    const written = tokenize(phrase).slice(0, MAX_PHRASE_WORDS)
    const words = stripApplicantWords(written)
    const best = new Map<number, Similarity>()
    const isStop = isStopPhrase(words)
    if (isStop || words.length < written.length) this.compare(written, EXACT_ONLY, best)
    if (!isStop) {
      this.compare(words, AS_WRITTEN, best)
      for (const variant of this.respellings(words)) this.compare(variant, RESPELT, best)
      for (const variant of rewordings(words)) this.compare(variant, REWORDED, best)
    }
    const found = [...best]
      .sort(([a, x], [b, y]) => Number(isExact(y)) - Number(isExact(x)) || y.total - x.total || a - b)
      .slice(0, Math.max(limit, 2))
    let ceiling = 1
    return found.slice(0, limit).map(([entry, similarity], i) => {
      ceiling = Math.min(ceiling, calibratedScore(similarity, found[i === 0 ? 1 : 0]?.[1], i))
      return { entry, method: similarity.method, score: Math.round(ceiling * 10_000) / 10_000 }
    })
  }

  /** Returns variants with two words joined or one word split: "java script" for JavaScript, "rajmistri" for raj mistri. */
  private respellings(words: string[]): string[][] {
    const { vocabulary } = this.labels
    const variants: string[][] = []
    for (let i = 0; i < words.length; i++) {
      const word = words[i]!
      const next = words[i + 1]
      if (next && vocabulary.find(word + next) >= 0)
        variants.push([...words.slice(0, i), word + next, ...words.slice(i + 2)])
      if (vocabulary.find(word) >= 0) continue
      for (let cut = 3; cut <= word.length - 3; cut++) {
        const [left, right] = [word.slice(0, cut), word.slice(cut)]
        if (vocabulary.find(left) >= 0 && vocabulary.find(right) >= 0)
          variants.push([...words.slice(0, i), left, right, ...words.slice(i + 1)])
      }
    }
    return variants.slice(0, MAX_VARIANTS)
  }

  /** Updates `best` with the skills that are more similar to this variant than to those before. */
  private compare(words: string[], variant: number, best: Map<number, Similarity>): void {
    const content = words.filter((word) => !stopWords.has(word))
    const compared = [...new Set(content.length ? content : words)]
    const phrase = compared.map((word, i) => {
      this.pool[i] ??= new PhraseWord(this.labels.vocabulary.stemCount)
      this.pool[i].lookUp(word, this.labels, this.paraphrases, this.nearWords, this.weights)
      return this.pool[i]
    })
    const ids = words.map((word) => this.labels.vocabulary.find(word))
    for (const entry of this.candidates(phrase)) {
      const similarity = this.similarity(entry, phrase, ids, variant)
      const before = best.get(entry)
      if (similarity && (!before || (similarity.total > before.total && !isExact(before)))) best.set(entry, similarity)
    }
    for (const word of phrase) word.clear()
  }

  /** Returns the skills that contain most of the phrase's weight, found through its rarest words first. */
  private candidates(phrase: PhraseWord[]): number[] {
    const { vocabulary } = this.labels
    const { starts, entries, bestLabels } = this.postings
    const { sums, lastRound, touched, ranking } = this
    const totalWeight = phrase.reduce((sum, word) => sum + word.weight, 0) || 1
    const counted = phrase.map((word) => ({
      word,
      postings: word.similarStems.reduce((sum, { stem }) => sum + this.countPostings(stem), 0),
    }))
    let size = 0
    let budget = MAX_POSTINGS_READ
    for (const { word, postings } of counted.sort((a, b) => a.postings - b.postings)) {
      if (size > 0 && postings > budget) break
      budget -= postings
      this.round++
      for (const { stem, similarity } of word.similarStems) {
        const gain = (Math.max(word.weight, 0.01) * similarity) / 100 / totalWeight
        for (let i = vocabulary.stemStarts[stem]!; i < vocabulary.stemStarts[stem + 1]!; i++) {
          const id = vocabulary.stemWords[i]!
          const letters = vocabulary.words[id]!.length
          for (let at = starts[id]!; at < starts[id + 1]!; at++) {
            const entry = entries[at]!
            if (lastRound[entry] === this.round) continue
            lastRound[entry] = this.round
            if (sums[entry] === 0) touched[size++] = entry
            sums[entry]! += gain * (0.7 + (0.3 * letters) / (bestLabels[at]! & LENGTH_MASK))
          }
        }
      }
    }
    ranking.reset()
    for (let i = 0; i < size; i++) {
      const entry = touched[i]!
      ranking.add(entry, Math.min(1, sums[entry]!), 0)
      sums[entry] = 0
    }
    return ranking.page(0, MAX_COMPARED_SKILLS).map((hit) => hit.entry)
  }

  private countPostings(stem: number): number {
    const { vocabulary } = this.labels
    let count = 0
    for (let i = vocabulary.stemStarts[stem]!; i < vocabulary.stemStarts[stem + 1]!; i++) {
      const id = vocabulary.stemWords[i]!
      count += this.postings.starts[id + 1]! - this.postings.starts[id]!
    }
    return count
  }

  private similarity(entry: number, phrase: PhraseWord[], ids: number[], variant: number): Similarity | undefined {
    const { labelStarts, kinds } = this.labels
    let best = 0
    let bestOverlap = 0
    let nameOverlap = 0
    let method: MatchMethod = 'fuzzy'
    for (let label = labelStarts[entry]!; label < labelStarts[entry + 1]!; label++) {
      const alias = kinds[label] === ALIAS
      const exact = (variant === AS_WRITTEN || variant === EXACT_ONLY) && this.hasWords(label, ids)
      const overlap = exact ? 1 : this.overlap(label, phrase)
      if (!alias && overlap > nameOverlap) nameOverlap = overlap
      if (variant === EXACT_ONLY && !exact) continue
      const total = overlap + (exact ? (alias ? EXACT_ALIAS_BONUS : EXACT_NAME_BONUS) : 0) + (alias ? 0 : NAME_BONUS)
      if (total <= best) continue
      best = total
      bestOverlap = overlap
      method = exact ? (alias ? 'alias' : 'exact') : variant === REWORDED || this.usedSynonym ? 'semantic' : 'fuzzy'
    }
    if (bestOverlap < MIN_OVERLAP) return undefined
    return {
      total:
        (best + NAME_OVERLAP_FACTOR * nameOverlap + PRIOR_WEIGHT * this.priors[entry]!) *
        (variant === RESPELT || variant === REWORDED ? VARIANT_FACTOR : 1),
      overlap: bestOverlap,
      nameOverlap,
      method,
    }
  }

  /** Returns the geometric mean of the part of the phrase that is in the label and the part of the label that is in the phrase. */
  private overlap(label: number, phrase: PhraseWord[]): number {
    const { wordStarts, words, vocabulary } = this.labels
    const { weights, bestMarks } = this
    for (let i = 0; i < phrase.length; i++) bestMarks[i] = 0
    let labelWeight = 0
    let labelMatched = 0
    for (let at = wordStarts[label]!; at < wordStarts[label + 1]!; at++) {
      const stem = vocabulary.stems[words[at]!]!
      for (let i = 0; i < phrase.length; i++) {
        const mark = phrase[i]!.marks[stem]!
        if ((mark & SIMILARITY_MASK) > (bestMarks[i]! & SIMILARITY_MASK)) bestMarks[i] = mark
      }
    }
    for (let at = wordStarts[label]!; at < wordStarts[label + 1]!; at++) {
      const stem = vocabulary.stems[words[at]!]!
      let best = 0
      for (let i = 0; i < phrase.length; i++) {
        const mark = phrase[i]!.marks[stem]!
        // A phrase of the one word "welding" matches the "welding" of "braze welding", not also its synonym "braze".
        if (phrase.length === 1 && mark & IS_SYNONYM && !(bestMarks[i]! & IS_SYNONYM)) continue
        if ((mark & SIMILARITY_MASK) > best) best = mark & SIMILARITY_MASK
      }
      const isEdge = weights[stem] === 0 && (at === wordStarts[label] || at + 1 === wordStarts[label + 1])
      const weight = isEdge ? EDGE_STOP_WORD_WEIGHT : weights[stem]!
      labelWeight += weight
      labelMatched += weight * best
    }
    let phraseWeight = 0
    let phraseMatched = 0
    this.usedSynonym = false
    for (let i = 0; i < phrase.length; i++) {
      phraseWeight += phrase[i]!.weight
      phraseMatched += phrase[i]!.weight * (bestMarks[i]! & SIMILARITY_MASK)
      if (bestMarks[i]! & IS_SYNONYM) this.usedSynonym = true
    }
    if (phraseWeight === 0 || labelWeight === 0) return phraseMatched > 0 || labelMatched > 0 ? 1 : 0
    return Math.sqrt((phraseMatched / phraseWeight) * (labelMatched / labelWeight)) / 100
  }

  private hasWords(label: number, ids: number[]): boolean {
    const { wordStarts, words } = this.labels
    const from = wordStarts[label]!
    if (wordStarts[label + 1]! - from !== ids.length) return false
    return ids.every((id, i) => words[from + i] === id)
  }
}

/** Whether the phrase is a name or alias of the skill; no similar name ranks above it. */
function isExact({ method }: Similarity): boolean {
  return method === 'exact' || method === 'alias'
}

/** Returns variants with spoken phrases replaced, or a short form written out. */
function rewordings(words: string[]): string[][] {
  const replaced = replaceSpokenPhrases(words)
  const variants: string[][] = replaced ? [replaced] : []
  for (let from = 0; from < words.length; from++) {
    for (let to = from + 1; to <= Math.min(words.length, from + MAX_SHORT_FORM_WORDS); to++) {
      const longForm = shortForms.get(words.slice(from, to).join(' '))
      if (longForm && words.length - (to - from) <= MAX_WORDS_AROUND_SHORT_FORM)
        variants.push([...words.slice(0, from), ...longForm.split(' '), ...words.slice(to)].slice(0, MAX_PHRASE_WORDS))
    }
  }
  return variants.slice(0, MAX_VARIANTS)
}

/** Returns the weight of every stem of the catalogue. */
export function* buildStemWeights(labels: Labels, postings: Postings): SlicedTask<Float32Array> {
  const { vocabulary } = labels
  const weights = new Float32Array(vocabulary.stemCount)
  for (let stem = 0; stem < weights.length; stem++) {
    let skills = 0
    for (let i = vocabulary.stemStarts[stem]!; i < vocabulary.stemStarts[stem + 1]!; i++) {
      const id = vocabulary.stemWords[i]!
      skills += postings.starts[id + 1]! - postings.starts[id]!
    }
    weights[stem] = stemWeight(vocabulary.stem(stem), skills, labels.names.length)
    if (stem % 2048 === 2047) yield
  }
  return weights
}
