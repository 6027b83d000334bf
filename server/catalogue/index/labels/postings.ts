import { labelWorth, worthOfMore } from '../search/scores.ts'
import type { Stepwise } from '../text/time-slicing.ts'
import { ALIAS, BARE_NAME, type Labels, type SkillEntry } from './labels.ts'
import { GroupWords } from './prior.ts'

/**
 * Which skills hold a word, word after word in sorted order: the skills of all words with one beginning are one stretch.
 * With each skill comes what ranks it when the word is all that was asked for: how long its best label with
 * the word is, whether that label begins with it, whether it is an alias, and whether the word names the skill's sub-skill.
 */
export interface Postings {
  /** The skills of word w are entries[starts[w]] up to entries[starts[w + 1]]. */
  starts: Int32Array
  entries: Int32Array
  labels: Uint16Array
}

export const LENGTH_BITS = 0x00ff
/** The word is in the name of the skill's sub-skill. */
export const NAMES_GROUP = 0x0100
/** How many further labels of the skill hold the word, up to three. */
const MORE = 0x0200
const MORE_BITS = 0x0600
/** The word is the whole label. */
export const IS_WHOLE = 0x0800
export const ENDS = 0x1000
export const IS_BARE = 0x2000
export const BEGINS = 0x4000
export const IS_ALIAS = 0x8000

/** What the further labels of a posting are worth. */
export function moreWorth(packed: number): number {
  return worthOfMore((packed & MORE_BITS) / MORE)
}

/** Skills worked on in one step. */
const STEP = 512

export function* buildPostings(labels: Labels, entries: readonly SkillEntry[]): Stepwise<Postings> {
  const skills = labels.labelStarts.length - 1
  const count = labels.vocabulary.words.length
  const starts = new Int32Array(count + 1)
  const latest = new Int32Array(count).fill(-1)
  for (let from = 0; from < skills; from += STEP) {
    countSkills(labels, from, Math.min(skills, from + STEP), starts, latest)
    yield
  }
  for (let word = 0; word < count; word++) starts[word + 1]! += starts[word]!
  const postings = { starts, entries: new Int32Array(starts[count]!), labels: new Uint16Array(starts[count]!) }
  const next = starts.slice()
  latest.fill(-1)
  const group = new GroupWords(labels.vocabulary)
  for (let from = 0; from < skills; from += STEP) {
    const step = entries.slice(from, from + STEP)
    listSkills(labels, step, from, group, postings, next, latest)
    yield
  }
  return postings
}

/** Counts at starts[w + 1] the skills that hold word w. */
function countSkills(labels: Labels, fromEntry: number, toEntry: number, starts: Int32Array, latest: Int32Array): void {
  const { labelStarts, wordStarts, words } = labels
  for (let entry = fromEntry; entry < toEntry; entry++) {
    const end = wordStarts[labelStarts[entry + 1]!]!
    for (let at = wordStarts[labelStarts[entry]!]!; at < end; at++) {
      const word = words[at]!
      if (latest[word] === entry) continue
      latest[word] = entry
      starts[word + 1]!++
    }
  }
}

function listSkills(
  labels: Labels,
  given: readonly SkillEntry[],
  first: number,
  group: GroupWords,
  { entries, labels: best }: Postings,
  next: Int32Array,
  latest: Int32Array,
): void {
  const { vocabulary, labelStarts, wordStarts, words, kinds, lengths } = labels
  for (let i = 0; i < given.length; i++) {
    const entry = first + i
    group.enter(given[i]!.sub)
    for (let label = labelStarts[entry]!; label < labelStarts[entry + 1]!; label++) {
      const start = wordStarts[label]!
      const end = wordStarts[label + 1]!
      const kind = kinds[label] === ALIAS ? IS_ALIAS : kinds[label] === BARE_NAME ? IS_BARE : 0
      const common = Math.min(LENGTH_BITS, lengths[label]!) | kind | (end - start === 1 ? IS_WHOLE : 0)
      for (let at = start; at < end; at++) {
        const word = words[at]!
        const about = group.marks[vocabulary.stems[word]!]! ? NAMES_GROUP : 0
        const packed = common | about | (at === start ? BEGINS : 0) | (at + 1 === end ? ENDS : 0)
        if (latest[word] !== entry) {
          latest[word] = entry
          entries[next[word]!] = entry
          best[next[word]!++] = packed
        } else {
          const place = next[word]! - 1
          const letters = vocabulary.words[word]!.length
          const more = Math.min(MORE_BITS, (best[place]! & MORE_BITS) + MORE)
          const better = worthOf(packed, letters) > worthOf(best[place]!, letters)
          best[place] = ((better ? packed : best[place]!) & ~MORE_BITS) | more
        }
      }
    }
  }
}

function worthOf(packed: number, letters: number): number {
  if (packed & IS_WHOLE) return packed & IS_ALIAS ? 2 : 3
  const coverage = Math.min(1, letters / (packed & LENGTH_BITS))
  return labelWorth(coverage, (packed & BEGINS) !== 0, (packed & ENDS) !== 0, true, (packed & IS_ALIAS) !== 0)
}
