import { ALIAS, BARE_NAME, type Labels, NAME } from '../labels/labels.ts'
import type { NearWords } from '../labels/near-words.ts'
import {
  BEGINS,
  ENDS,
  IS_ALIAS,
  IS_BARE,
  IS_WHOLE,
  LENGTH_BITS,
  moreWorth,
  NAMES_GROUP,
  type Postings,
} from '../labels/postings.ts'
import type { Ranking } from '../labels/ranking.ts'
import { withoutAsking, withoutWanting } from '../lexicon/filler-words.ts'
import { wordsOf } from '../text/tokens.ts'
import { EXACT, isOneWord, ONE_LETTER, PREFIX, QueryWord } from './query-words.ts'
import {
  DOUBTFUL,
  exactScore,
  isExact,
  labelWorth,
  NAMED_BY_GROUP,
  SCATTERED,
  scoreOf,
  WHOLE_LABEL,
  worthOfLabel,
  worthOfMore,
  worthOfScattered,
} from './scores.ts'

/**
 * Search by name. Each word of the query is turned into the words of the catalogue it may stand for (query-words.ts);
 * the word with the fewest skills behind it leads to the candidates, and every label of a candidate is held
 * against all words. A query of one word needs no labels: its list says enough (postings.ts). When nothing holds all words, those
 * that only ask are left out, words are joined or parted, then typos are allowed in words that are known, and at last words may
 * be missing.
 *
 * A score is made of how well the words agree, of what the label is worth for them (scores.ts), and of how the skill stands
 * (standing.ts), which decides where many fit alike: the less is asked, the more it counts. It is a number that a skill has for
 * this query alone, so pages cut by it never overlap or skip.
 */

export interface SearchOptions<T> {
  offset: number
  limit: number
  filter?: ((entry: number) => boolean) | undefined
  /** Makes what is handed out of a skill, by its place in the index's entries. */
  make: (entry: number, score: number) => T
}

const MAX_WORDS = 12
/** A query that needs no taking apart. */
const PLAIN_WORD = /^[a-z]+$/
/** A form of the word that was asked for, and begins with it: "painting" for "paint". */
const INFLECTED = 95
/** Of the words that begin as asked, each is the likelier the more of their skills are its own: at most so much. */
const LIKELIER = 6
/** The part of a query that must be found when not all of it is. */
const PARTIAL = 0.5
/** Reading a list is that much cheaper than weighing a skill that turns out not to be in it. */
const WORTH_SIEVING = 40
/** With more skills than this to look at, it is cheaper to list the words that end with the two letters asked for. */
const WORTH_LISTING = 100

/** What a search goes through. */
export interface SearchParts {
  labels: Labels
  postings: Postings
  nearWords: NearWords
  /** How each skill stands, in thousandths. */
  standing: Uint8Array
  /** 1 for a skill of an imported taxonomy that nobody can be tested on. */
  foreign: Uint8Array
  ranking: Ranking
}

export class Search {
  private readonly labels: Labels
  private readonly postings: Postings
  private readonly standing: Uint8Array
  private readonly foreign: Uint8Array
  private readonly pool: QueryWord[] = []
  private readonly ranking: Ranking
  private readonly newQueryWord: () => QueryWord

  constructor({ labels, postings, nearWords, standing, foreign, ranking }: SearchParts) {
    this.labels = labels
    this.postings = postings
    this.standing = standing
    this.foreign = foreign
    this.ranking = ranking
    this.newQueryWord = () => new QueryWord(labels.vocabulary, nearWords)
  }

  search<T>(query: string, { offset, limit, filter, make }: SearchOptions<T>): { hits: T[]; total: number } {
    const words = PLAIN_WORD.test(query) ? [query] : distinct(wordsOf(query))
    const { ranking } = this
    ranking.begin(filter)
    if (words.length > 0) {
      this.rank(words, false)
      const wanted = withoutWanting(words)
      if (ranking.highest <= DOUBTFUL && wanted.length < words.length) this.rank(wanted, false)
      const telling = withoutAsking(wanted)
      if (ranking.size === 0 && telling.length < words.length) this.rank(telling, false)
      if (ranking.highest <= DOUBTFUL) this.rankJoined(words)
      if (ranking.size === 0) this.rankParted(words)
      if (ranking.size === 0) this.rank(words, true)
    }
    return { hits: ranking.cut(offset, limit, make), total: ranking.size }
  }

  /** `lenient` allows typos in words that are known and, where nothing holds all words, lets some be missing. */
  private rank(words: string[], lenient: boolean): void {
    const queryWords: QueryWord[] = []
    let needed: QueryWord | undefined
    let count = 0
    for (let i = 0; i < words.length; i++) {
      this.pool[i] ??= this.newQueryWord()
      const word = this.pool[i]!
      word.read(words[i]!, i === 0, i === words.length - 1, lenient)
      queryWords.push(word)
      if (!word.required) continue
      needed = word
      count++
    }
    if (queryWords.length === 1) this.rankOneWord(queryWords[0]!, 1)
    else if (needed && count === 1) this.rankOneAndLetters(needed, queryWords)
    else {
      let least = Number.POSITIVE_INFINITY
      for (const word of queryWords) {
        word.reach = word.reachIn(this.postings)
        if (word.required && word.reach < least) least = word.reach
      }
      if (least > WORTH_LISTING && queryWords[0]!.reach === Number.POSITIVE_INFINITY) {
        queryWords[0]!.listEndings()
        queryWords[0]!.reach = queryWords[0]!.reachIn(this.postings)
      }
      const scarcestFirst = [...queryWords].sort((a, b) => b.required - a.required || a.reach - b.reach)
      this.rankAll(scarcestFirst, queryWords)
      if (lenient && this.ranking.size === 0) this.rankSome(queryWords)
    }
    for (const word of queryWords) word.forget()
  }

  /** "data base" for database. */
  private rankJoined(words: string[]): void {
    for (let i = 0; i + 1 < words.length; i++) {
      const joined = words[i]! + words[i + 1]!
      if (this.labels.vocabulary.find(joined) >= 0)
        this.rank([...words.slice(0, i), joined, ...words.slice(i + 2)], false)
    }
  }

  /** "weldingmachine" for welding machine. */
  private rankParted(words: string[]): void {
    const { vocabulary } = this.labels
    for (let i = 0; i < words.length; i++) {
      const word = words[i]!
      for (let cut = 2; cut <= word.length - 2; cut++) {
        const [left, right] = [word.slice(0, cut), word.slice(cut)]
        if (vocabulary.find(left) >= 0 && vocabulary.find(right) >= 0)
          this.rank([...words.slice(0, i), left, right, ...words.slice(i + 1)].slice(0, MAX_WORDS), false)
      }
    }
  }

  /** Ranks the skills of a word, and those of them higher that also hold the single letters beside it: "inspect b". */
  private rankOneAndLetters(word: QueryWord, words: QueryWord[]): void {
    const { ranking } = this
    const asked = words.reduce((sum, { text }) => sum + text.length, 0)
    this.rankOneWord(word, word.text.length / asked)
    const letters = words.reduce((sum, other) => (other === word ? sum : sum + other.reachIn(this.postings)), 0)
    ranking.sieve(true)
    if (letters < word.reachIn(this.postings) * WORTH_SIEVING) {
      for (const other of words) if (other !== word) this.keep(other)
      ranking.sieve(false)
    }
    this.keep(word)
    const { kept } = ranking
    for (let i = 0; i < kept; i++) this.weigh(ranking.candidates[i]!, words, words)
  }

  /** Ranks the skills of a word that makes up so much of the query. */
  private rankOneWord(word: QueryWord, part: number): void {
    const { text, exact, from, to, near } = word
    const { starts } = this.postings
    const { words, stems } = this.labels.vocabulary
    const stem = exact < 0 ? -1 : stems[exact]
    const skills = starts[to]! - starts[from]!
    const begins = text.length > 1 ? PREFIX : ONE_LETTER
    for (let id = from; id < to; id++) {
      if (id === exact) this.rankSkills(id, EXACT, text.length, true, part)
      else if (stems[id] === stem) this.rankSkills(id, INFLECTED, words[id]!.length, true, part)
      else {
        const share = (starts[id + 1]! - starts[id]!) / skills
        this.rankSkills(id, begins + LIKELIER * share, text.length, false, part)
      }
    }
    for (const id of near) {
      // A word misspelt is the whole word, a piece of one is not.
      const agreement = word.agreement(id)
      const whole = isOneWord(agreement)
      this.rankSkills(id, agreement, whole ? words[id]!.length : text.length, whole, part)
    }
  }

  /** Ranks the skills of a word, of which so many letters were asked for, or the whole. */
  private rankSkills(word: number, agreement: number, letters: number, whole: boolean, part: number): void {
    const { starts, entries, labels } = this.postings
    const { ranking, standing, foreign } = this
    const end = starts[word + 1]!
    for (let at = starts[word]!; at < end; at++) {
      const entry = entries[at]!
      const label = labels[at]!
      const length = label & LENGTH_BITS
      const alias = label >= IS_ALIAS
      if (agreement === EXACT && part === 1 && label & IS_WHOLE) {
        const kind = alias ? ALIAS : label & IS_BARE ? BARE_NAME : NAME
        ranking.put(entry, exactScore(kind, foreign[entry] === 1), length)
        continue
      }
      const coverage = letters < length ? letters / length : 1
      let worth =
        labelWorth(coverage, (label & BEGINS) !== 0, (label & ENDS) !== 0, true, alias) * agreement * 0.01 * part
      worth += (label & NAMES_GROUP ? NAMED_BY_GROUP : 1) * 0.001 * standing[entry]!
      if (whole) worth += moreWorth(label)
      else if (letters > 1 && label & IS_WHOLE) worth += WHOLE_LABEL
      ranking.put(entry, scoreOf(worth), length)
    }
  }

  /** Skills that hold all words: each word in turn keeps those that the words before it left. */
  private rankAll(scarcestFirst: QueryWord[], words: QueryWord[]): void {
    const { ranking } = this
    let candidates = 0
    for (let i = 0; i < scarcestFirst.length; i++) {
      const word = scarcestFirst[i]!
      if (i > 0 && (!word.required || word.reach > candidates * WORTH_SIEVING)) break
      ranking.sieve(i === 0)
      this.keep(word)
      candidates = ranking.kept
      if (candidates === 0) return
    }
    for (let i = 0; i < candidates; i++) this.weigh(ranking.candidates[i]!, scarcestFirst, words)
  }

  /** Skills that hold at least half of what was asked, under whatever labels: no need to look at these one by one. */
  private rankSome(words: QueryWord[]): void {
    const { ranking, postings, labels } = this
    const { starts, entries } = postings
    const asked = words.reduce((sum, word) => sum + word.text.length, 0)
    ranking.sieve(true)
    for (const word of words) {
      ranking.nextTally()
      for (const id of word.byAgreement())
        ranking.tally(entries, starts[id]!, starts[id + 1]!, (word.text.length * word.agreement(id)) / 100)
      ranking.tally(entries, starts[word.from]!, starts[word.to]!, (word.text.length * PREFIX) / 100)
    }
    ranking.eachTallied((entry, agreed) => {
      if (agreed / asked < PARTIAL) return
      ranking.put(entry, (SCATTERED * PARTIAL * agreed) / asked, labels.lengths[labels.labelStarts[entry]!]!)
    })
  }

  /** Keeps the skills of a word that passed the sieve before. */
  private keep(word: QueryWord): void {
    const { starts, entries } = this.postings
    this.ranking.keep(entries, starts[word.from]!, starts[word.to]!)
    for (const id of word.near) this.ranking.keep(entries, starts[id]!, starts[id + 1]!)
  }

  /** Holds every label of a skill against all words of the query. */
  private weigh(entry: number, scarcestFirst: QueryWord[], words: QueryWord[]): void {
    const { labelStarts, wordStarts, words: labelWords, lengths, kinds } = this.labels
    const first = labelStarts[entry]!
    const last = labelStarts[entry + 1]!
    let best = 0
    let length = 0
    let holding = 0
    for (let label = first; label < last; label++) {
      const from = wordStarts[label]!
      const to = wordStarts[label + 1]!
      let whole = true
      for (let i = 0; whole && i < scarcestFirst.length; i++) whole = scarcestFirst[i]!.lookIn(labelWords, from, to)
      if (!whole) continue
      if (isExact(words, to - from)) {
        // The name comes before other names.
        this.ranking.put(entry, exactScore(kinds[label]!, this.foreign[entry] === 1), lengths[label]!)
        return
      }
      holding++
      const worth = worthOfLabel(words, to - from, lengths[label]!, kinds[label]!)
      if (worth <= best) continue
      best = worth
      length = lengths[label]!
    }
    if (holding === 0) {
      for (const word of words) word.lookIn(labelWords, wordStarts[first]!, wordStarts[last]!)
      best = worthOfScattered(words)
      if (best === 0) return
      length = lengths[first]!
    }
    // The more is asked, the less is left to how the skill stands.
    const more = (holding > 1 ? worthOfMore(holding - 1) : 0) + (0.001 * this.standing[entry]!) / words.length
    this.ranking.put(entry, scoreOf(best + more), length)
  }
}

function distinct(words: string[]): string[] {
  return (words.length < 2 ? words : [...new Set(words)]).slice(0, MAX_WORDS)
}
