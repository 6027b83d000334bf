import type { SlicedTask } from '../text/time-slicing.ts'
import { extraLabelBonus, labelScore } from './label-score.ts'
import { ALIAS, BARE_NAME, type Labels, type SkillEntry } from './labels.ts'
import { GroupNameStems } from './prior.ts'

/**
 * Posting lists: the skills that contain each word. Words are sorted, so the skills of all words with one prefix are one range.
 * Each posting describes the skill's best label with that word (its length, whether the word begins or ends it, whether it is an
 * alias) and whether the word names the skill's sub-skill. That is all a one-word query needs to rank the skill.
 */
export interface Postings {
  /** The skills of word w are entries[starts[w]] up to entries[starts[w + 1]]. */
  starts: Int32Array
  entries: Int32Array
  /** Length and flags of the best label, packed. */
  bestLabels: Uint16Array
}

/** The length of the label, at most 255. */
export const LENGTH_MASK = 0x00ff
/** The word is in the name of the skill's sub-skill. */
export const NAMES_SUB_SKILL = 0x0100
/** Two bits that count further occurrences of the word in the skill's labels, up to three. */
const EXTRA_LABEL = 0x0200
const EXTRA_LABELS_MASK = 0x0600
/** The word is the whole label. */
export const IS_WHOLE_LABEL = 0x0800
export const ENDS_LABEL = 0x1000
export const IS_BARE_NAME = 0x2000
export const BEGINS_LABEL = 0x4000
export const IS_ALIAS = 0x8000

/** Returns the bonus for further labels that contain the word of a posting. */
export function postingBonus(packed: number): number {
  return extraLabelBonus((packed & EXTRA_LABELS_MASK) / EXTRA_LABEL)
}

/** Skills processed between two yields. */
const SKILLS_PER_SLICE = 512

export function* buildPostings(labels: Labels, entries: readonly SkillEntry[]): SlicedTask<Postings> {
  const skills = labels.labelStarts.length - 1
  const count = labels.vocabulary.words.length
  const starts = new Int32Array(count + 1)
  const latest = new Int32Array(count).fill(-1)
  for (let from = 0; from < skills; from += SKILLS_PER_SLICE) {
    countSkills(labels, from, Math.min(skills, from + SKILLS_PER_SLICE), starts, latest)
    yield
  }
  for (let word = 0; word < count; word++) starts[word + 1]! += starts[word]!
  const postings = { starts, entries: new Int32Array(starts[count]!), bestLabels: new Uint16Array(starts[count]!) }
  const next = starts.slice()
  latest.fill(-1)
  const groupStems = new GroupNameStems(labels.vocabulary)
  for (let from = 0; from < skills; from += SKILLS_PER_SLICE) {
    const batch = entries.slice(from, from + SKILLS_PER_SLICE)
    addPostings(labels, batch, from, groupStems, postings, next, latest)
    yield
  }
  return postings
}

/** Counts at starts[w + 1] the skills that contain word w. */
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

function addPostings(
  labels: Labels,
  batch: readonly SkillEntry[],
  firstEntry: number,
  groupStems: GroupNameStems,
  { entries, bestLabels }: Postings,
  next: Int32Array,
  latest: Int32Array,
): void {
  const { vocabulary, labelStarts, wordStarts, words, kinds, lengths } = labels
  for (let i = 0; i < batch.length; i++) {
    const entry = firstEntry + i
    groupStems.setGroup(batch[i]!.sub)
    for (let label = labelStarts[entry]!; label < labelStarts[entry + 1]!; label++) {
      const start = wordStarts[label]!
      const end = wordStarts[label + 1]!
      const kind = kinds[label] === ALIAS ? IS_ALIAS : kinds[label] === BARE_NAME ? IS_BARE_NAME : 0
      const common = Math.min(LENGTH_MASK, lengths[label]!) | kind | (end - start === 1 ? IS_WHOLE_LABEL : 0)
      for (let at = start; at < end; at++) {
        const word = words[at]!
        const inGroupName = groupStems.marks[vocabulary.stems[word]!]! ? NAMES_SUB_SKILL : 0
        const packed = common | inGroupName | (at === start ? BEGINS_LABEL : 0) | (at + 1 === end ? ENDS_LABEL : 0)
        if (latest[word] !== entry) {
          latest[word] = entry
          entries[next[word]!] = entry
          bestLabels[next[word]!++] = packed
        } else {
          const posting = next[word]! - 1
          const best = bestLabels[posting]!
          const letters = vocabulary.words[word]!.length
          const extra = Math.min(EXTRA_LABELS_MASK, (best & EXTRA_LABELS_MASK) + EXTRA_LABEL)
          const isBetter = scoreOfPacked(packed, letters) > scoreOfPacked(best, letters)
          bestLabels[posting] = ((isBetter ? packed : best) & ~EXTRA_LABELS_MASK) | extra
        }
      }
    }
  }
}

function scoreOfPacked(packed: number, letters: number): number {
  if (packed & IS_WHOLE_LABEL) return packed & IS_ALIAS ? 2 : 3
  const coverage = Math.min(1, letters / (packed & LENGTH_MASK))
  return labelScore(
    coverage,
    (packed & BEGINS_LABEL) !== 0,
    (packed & ENDS_LABEL) !== 0,
    true,
    (packed & IS_ALIAS) !== 0,
  )
}
