import { ALIAS, type Labels } from '../labels/labels.ts'
import type { NearWords } from '../labels/near-words.ts'
import { LENGTH_BITS, type Postings } from '../labels/postings.ts'
import type { Ranking } from '../labels/ranking.ts'
import { withoutThePerson } from '../lexicon/applicant-words.ts'
import { shortForms } from '../lexicon/short-forms.ts'
import { inCatalogueWords } from '../lexicon/spoken-phrases.ts'
import { stopWords } from '../lexicon/thesaurus.ts'
import type { Stepwise } from '../text/time-slicing.ts'
import { wordsOf } from '../text/tokens.ts'
import { type Closeness, type MatchMethod, rightness } from './calibration.ts'
import type { Paraphrases } from './paraphrases.ts'
import { IN_MEANING, isUntelling, LIKENESS, PhraseWord, weightOf } from './phrase-words.ts'

/**
 * From a phrase to the skills it may mean. A phrase and a label are held against each other word by word: the same stem
 * counts in full, a typo or a paraphrase for less, and every word by how rare it is in the catalogue. What the two
 * sides share of their weight (the geometric mean of both shares) is their closeness; a skill has that of its best
 * label and a little of its name's. The score is how often an answer so close was right (calibration.ts).
 */

export interface Candidate {
  entry: number
  score: number
  method: MatchMethod
}

const MAX_WORDS = 16
const MAX_READINGS = 3
/** Beside more words than this a set phrase says little about the whole. */
const MOST_BESIDE = 5
/** How much of the lists is read to find candidates, and how many candidates are then looked at closely. */
const LIST_BUDGET = 20_000
const CLOSE_LOOKS = 192
/** Closer than this, or not worth telling. */
const FARTHEST = 0.3

const NAME_BONUS = 0.06
const NAME_SHARE = 0.3
const EXACT_NAME = 0.3
const EXACT_ALIAS = 0.15
const OTHER_READING = 0.95
/** What a thousandth of how a skill stands is worth: of skills that come as close the general one is meant. */
const STANDING = 0.0009
/** What a small word weighs that begins or ends a label, where it links nothing: "AT welding". */
const AT_THE_EDGE = 2

/** Ways to read a phrase: as it is, with words run together or parted, with other words that say the same. */
const AS_WRITTEN = 0
const RESPELT = 1
const REWORDED = 2
/** A phrase of small words, which is a skill only where that is called so. */
const TO_THE_LETTER = 3

export class Matcher {
  private readonly labels: Labels
  private readonly postings: Postings
  private readonly nearWords: NearWords
  private readonly paraphrases: Paraphrases
  private readonly ranking: Ranking
  private readonly standing: Uint8Array
  private readonly weights: Float32Array
  private readonly sums: Float32Array
  private readonly countedFor: Int32Array
  private readonly touched: Int32Array
  private round = 0
  private readonly pool: PhraseWord[] = []
  private readonly bestOf = new Uint8Array(MAX_WORDS)

  constructor(
    labels: Labels,
    postings: Postings,
    nearWords: NearWords,
    paraphrases: Paraphrases,
    weights: Float32Array,
    ranking: Ranking,
    standing: Uint8Array,
  ) {
    this.labels = labels
    this.postings = postings
    this.nearWords = nearWords
    this.paraphrases = paraphrases
    this.ranking = ranking
    this.standing = standing
    this.sums = new Float32Array(labels.names.length)
    this.countedFor = new Int32Array(labels.names.length)
    this.touched = new Int32Array(labels.names.length)
    this.weights = weights
  }

  match(phrase: string, limit: number): Candidate[] {
    const written = wordsOf(phrase).slice(0, MAX_WORDS)
    const words = withoutThePerson(written)
    const best = new Map<number, Closeness>()
    const untelling = words.every(isUntelling)
    if (untelling || words.length < written.length) this.compare(written, TO_THE_LETTER, best)
    if (!untelling) this.compare(words, AS_WRITTEN, best)
    if (!untelling) {
      for (const reading of this.respelt(words)) this.compare(reading, RESPELT, best)
      for (const reading of reworded(words)) this.compare(reading, REWORDED, best)
    }
    const found = [...best]
      .sort(([a, x], [b, y]) => Number(isExact(y)) - Number(isExact(x)) || y.total - x.total || a - b)
      .slice(0, Math.max(limit, 2))
    let ceiling = 1
    return found.slice(0, limit).map(([entry, closeness], i) => {
      ceiling = Math.min(ceiling, rightness(closeness, found[i === 0 ? 1 : 0]?.[1], i))
      return { entry, method: closeness.method, score: Math.round(ceiling * 10_000) / 10_000 }
    })
  }

  /** "java script" for JavaScript, "rajmistri" for raj mistri. */
  private respelt(words: string[]): string[][] {
    const { vocabulary } = this.labels
    const readings: string[][] = []
    for (let i = 0; i < words.length; i++) {
      const word = words[i]!
      const next = words[i + 1]
      if (next && vocabulary.find(word + next) >= 0)
        readings.push([...words.slice(0, i), word + next, ...words.slice(i + 2)])
      if (vocabulary.find(word) >= 0) continue
      for (let cut = 3; cut <= word.length - 3; cut++) {
        const [left, right] = [word.slice(0, cut), word.slice(cut)]
        if (vocabulary.find(left) >= 0 && vocabulary.find(right) >= 0)
          readings.push([...words.slice(0, i), left, right, ...words.slice(i + 1)])
      }
    }
    return readings.slice(0, MAX_READINGS)
  }

  /** Adds the skills that come close to the words, where they come closer than before. */
  private compare(words: string[], reading: number, best: Map<number, Closeness>): void {
    const telling = words.filter((word) => !stopWords.has(word))
    const counted = [...new Set(telling.length ? telling : words)]
    const phrase = counted.map((word, i) => {
      this.pool[i] ??= new PhraseWord(this.labels.vocabulary.stemCount)
      this.pool[i].read(word, this.labels, this.paraphrases, this.nearWords, this.weights)
      return this.pool[i]
    })
    const ids = words.map((word) => this.labels.vocabulary.find(word))
    for (const entry of this.candidates(phrase)) {
      const closeness = this.closeness(entry, phrase, ids, reading)
      const before = best.get(entry)
      if (closeness && (!before || (closeness.total > before.total && !isExact(before)))) best.set(entry, closeness)
    }
    for (const word of phrase) word.forget()
  }

  /** The skills that hold most of the phrase's weight, found through its rarest words first. */
  private candidates(phrase: PhraseWord[]): number[] {
    const { vocabulary } = this.labels
    const { starts, entries, labels } = this.postings
    const { sums, countedFor, touched, ranking } = this
    const total = phrase.reduce((sum, word) => sum + word.weight, 0) || 1
    const reaches = phrase.map((word) => ({
      word,
      reach: word.likes.reduce((sum, { stem }) => sum + this.reach(stem), 0),
    }))
    let size = 0
    let budget = LIST_BUDGET
    for (const { word, reach } of reaches.sort((a, b) => a.reach - b.reach)) {
      if (size > 0 && reach > budget) break
      budget -= reach
      this.round++
      for (const { stem, likeness } of word.likes) {
        const gain = (Math.max(word.weight, 0.01) * likeness) / 100 / total
        for (let i = vocabulary.stemStarts[stem]!; i < vocabulary.stemStarts[stem + 1]!; i++) {
          const id = vocabulary.stemWords[i]!
          const letters = vocabulary.words[id]!.length
          for (let at = starts[id]!; at < starts[id + 1]!; at++) {
            const entry = entries[at]!
            if (countedFor[entry] === this.round) continue
            countedFor[entry] = this.round
            if (sums[entry] === 0) touched[size++] = entry
            sums[entry]! += gain * (0.7 + (0.3 * letters) / (labels[at]! & LENGTH_BITS))
          }
        }
      }
    }
    ranking.begin()
    for (let i = 0; i < size; i++) {
      const entry = touched[i]!
      ranking.put(entry, Math.min(1, sums[entry]!), 0)
      sums[entry] = 0
    }
    return ranking.page(0, CLOSE_LOOKS).map((hit) => hit.entry)
  }

  private reach(stem: number): number {
    const { vocabulary } = this.labels
    let reach = 0
    for (let i = vocabulary.stemStarts[stem]!; i < vocabulary.stemStarts[stem + 1]!; i++) {
      const id = vocabulary.stemWords[i]!
      reach += this.postings.starts[id + 1]! - this.postings.starts[id]!
    }
    return reach
  }

  private closeness(entry: number, phrase: PhraseWord[], ids: number[], reading: number): Closeness | undefined {
    const { labelStarts, kinds } = this.labels
    let best = 0
    let share = 0
    let nameShare = 0
    let method: MatchMethod = 'fuzzy'
    for (let label = labelStarts[entry]!; label < labelStarts[entry + 1]!; label++) {
      const alias = kinds[label] === ALIAS
      const exact = (reading === AS_WRITTEN || reading === TO_THE_LETTER) && this.sameWords(label, ids)
      const held = exact ? 1 : this.shared(label, phrase)
      if (!alias && held > nameShare) nameShare = held
      if (reading === TO_THE_LETTER && !exact) continue
      const total = held + (exact ? (alias ? EXACT_ALIAS : EXACT_NAME) : 0) + (alias ? 0 : NAME_BONUS)
      if (total <= best) continue
      best = total
      share = held
      method = exact ? (alias ? 'alias' : 'exact') : reading === REWORDED || this.inMeaning ? 'semantic' : 'fuzzy'
    }
    if (share < FARTHEST) return undefined
    return {
      total:
        (best + NAME_SHARE * nameShare + STANDING * this.standing[entry]!) *
        (reading === RESPELT || reading === REWORDED ? OTHER_READING : 1),
      share,
      nameShare,
      method,
    }
  }

  /** Whether the label last compared owes what it shares to a paraphrase. */
  private inMeaning = false

  /** The geometric mean of how much of the phrase is in the label and how much of the label in the phrase. */
  private shared(label: number, phrase: PhraseWord[]): number {
    const { wordStarts, words, vocabulary } = this.labels
    const { weights, bestOf } = this
    for (let i = 0; i < phrase.length; i++) bestOf[i] = 0
    let labelWeight = 0
    let labelHeld = 0
    for (let at = wordStarts[label]!; at < wordStarts[label + 1]!; at++) {
      const stem = vocabulary.stems[words[at]!]!
      for (let i = 0; i < phrase.length; i++) {
        const mark = phrase[i]!.marks[stem]!
        if ((mark & LIKENESS) > (bestOf[i]! & LIKENESS)) bestOf[i] = mark
      }
    }
    for (let at = wordStarts[label]!; at < wordStarts[label + 1]!; at++) {
      const stem = vocabulary.stems[words[at]!]!
      let most = 0
      for (let i = 0; i < phrase.length; i++) {
        const mark = phrase[i]!.marks[stem]!
        // The "welding" that is all that is asked for is that of "braze welding", and not its brazing too.
        if (phrase.length === 1 && mark & IN_MEANING && !(bestOf[i]! & IN_MEANING)) continue
        if ((mark & LIKENESS) > most) most = mark & LIKENESS
      }
      const edge = weights[stem] === 0 && (at === wordStarts[label] || at + 1 === wordStarts[label + 1])
      const weight = edge ? AT_THE_EDGE : weights[stem]!
      labelWeight += weight
      labelHeld += weight * most
    }
    let weight = 0
    let held = 0
    this.inMeaning = false
    for (let i = 0; i < phrase.length; i++) {
      weight += phrase[i]!.weight
      held += phrase[i]!.weight * (bestOf[i]! & LIKENESS)
      if (bestOf[i]! & IN_MEANING) this.inMeaning = true
    }
    if (weight === 0 || labelWeight === 0) return held > 0 || labelHeld > 0 ? 1 : 0
    return Math.sqrt((held / weight) * (labelHeld / labelWeight)) / 100
  }

  private sameWords(label: number, ids: number[]): boolean {
    const { wordStarts, words } = this.labels
    const from = wordStarts[label]!
    if (wordStarts[label + 1]! - from !== ids.length) return false
    return ids.every((id, i) => words[from + i] === id)
  }
}

/** Whether the skill has the phrase itself for a name, which no name like it outdoes. */
function isExact({ method }: Closeness): boolean {
  return method === 'exact' || method === 'alias'
}

/** The phrase with a short form written out, or a set phrase in the catalogue's words. */
function reworded(words: string[]): string[][] {
  const plain = inCatalogueWords(words)
  const readings: string[][] = plain ? [plain] : []
  for (let from = 0; from < words.length; from++) {
    for (let to = from + 1; to <= Math.min(words.length, from + 3); to++) {
      const full = shortForms.get(words.slice(from, to).join(' '))
      if (full && words.length - (to - from) <= MOST_BESIDE)
        readings.push([...words.slice(0, from), ...full.split(' '), ...words.slice(to)].slice(0, MAX_WORDS))
    }
  }
  return readings.slice(0, MAX_READINGS)
}

/** What every stem of the catalogue weighs. */
export function* weighStems(labels: Labels, postings: Postings): Stepwise<Float32Array> {
  const { vocabulary } = labels
  const weights = new Float32Array(vocabulary.stemCount)
  for (let stem = 0; stem < weights.length; stem++) {
    let skills = 0
    for (let i = vocabulary.stemStarts[stem]!; i < vocabulary.stemStarts[stem + 1]!; i++) {
      const id = vocabulary.stemWords[i]!
      skills += postings.starts[id + 1]! - postings.starts[id]!
    }
    weights[stem] = weightOf(vocabulary.stem(stem), skills, labels.names.length)
    if (stem % 2048 === 2047) yield
  }
  return weights
}
