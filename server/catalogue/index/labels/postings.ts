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
export const IS_IN_SUB_SKILL_NAME = 0x0100
/** Two bits that count further occurrences of the word in the skill's labels, up to three. */
const ONE_EXTRA_LABEL = 0x0200
const EXTRA_LABELS_MASK = 0x0600
/** The word is the whole label. */
export const IS_WHOLE_LABEL = 0x0800
export const ENDS_LABEL = 0x1000
export const IS_BARE_NAME = 0x2000
export const BEGINS_LABEL = 0x4000
export const IS_ALIAS = 0x8000

/** Returns the bonus for further labels that contain the word of a posting. */
export function postingBonus(packedLabel: number): number {
  return extraLabelBonus((packedLabel & EXTRA_LABELS_MASK) / ONE_EXTRA_LABEL)
}

/** Skills processed between two yields. */
const SKILLS_PER_SLICE = 512

export function* buildPostings(labels: Labels, entries: readonly SkillEntry[]): SlicedTask<Postings> {
  const skillCount = labels.labelStarts.length - 1
  const wordCount = labels.vocabulary.words.length
  const starts = new Int32Array(wordCount + 1)
  const lastEntries = new Int32Array(wordCount).fill(-1)
  for (let from = 0; from < skillCount; from += SKILLS_PER_SLICE) {
    countSkills(labels, from, Math.min(skillCount, from + SKILLS_PER_SLICE), starts, lastEntries)
    yield
  }
  for (let word = 0; word < wordCount; word++) starts[word + 1]! += starts[word]!
  const postings = {
    starts,
    entries: new Int32Array(starts[wordCount]!),
    bestLabels: new Uint16Array(starts[wordCount]!),
  }
  const nextPositions = starts.slice()
  lastEntries.fill(-1)
  const groupStems = new GroupNameStems(labels.vocabulary)
  for (let from = 0; from < skillCount; from += SKILLS_PER_SLICE) {
    const batch = entries.slice(from, from + SKILLS_PER_SLICE)
    addPostings(labels, batch, from, groupStems, postings, nextPositions, lastEntries)
    yield
  }
  return postings
}

/** Counts at starts[w + 1] the skills that contain word w. */
function countSkills(
  labels: Labels,
  fromEntry: number,
  toEntry: number,
  starts: Int32Array,
  lastEntries: Int32Array,
): void {
  const { labelStarts, wordStarts, words } = labels
  for (let entry = fromEntry; entry < toEntry; entry++) {
    const end = wordStarts[labelStarts[entry + 1]!]!
    for (let at = wordStarts[labelStarts[entry]!]!; at < end; at++) {
      const word = words[at]!
      if (lastEntries[word] === entry) continue
      lastEntries[word] = entry
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
  nextPositions: Int32Array,
  lastEntries: Int32Array,
): void {
  const { vocabulary, labelStarts, wordStarts, words, kinds, lengths } = labels
  for (let i = 0; i < batch.length; i++) {
    const entry = firstEntry + i
    groupStems.setGroup(batch[i]!.sub)
    for (let label = labelStarts[entry]!; label < labelStarts[entry + 1]!; label++) {
      const firstWord = wordStarts[label]!
      const endWord = wordStarts[label + 1]!
      const kind = kinds[label] === ALIAS ? IS_ALIAS : kinds[label] === BARE_NAME ? IS_BARE_NAME : 0
      const labelFlags =
        Math.min(LENGTH_MASK, lengths[label]!) | kind | (endWord - firstWord === 1 ? IS_WHOLE_LABEL : 0)
      for (let at = firstWord; at < endWord; at++) {
        const word = words[at]!
        const subSkillFlag = groupStems.marks[vocabulary.stems[word]!]! ? IS_IN_SUB_SKILL_NAME : 0
        const packedLabel =
          labelFlags | subSkillFlag | (at === firstWord ? BEGINS_LABEL : 0) | (at + 1 === endWord ? ENDS_LABEL : 0)
        if (lastEntries[word] !== entry) {
          lastEntries[word] = entry
          entries[nextPositions[word]!] = entry
          bestLabels[nextPositions[word]!++] = packedLabel
        } else {
          const posting = nextPositions[word]! - 1
          const bestLabel = bestLabels[posting]!
          const letterCount = vocabulary.words[word]!.length
          const extraLabelBits = Math.min(EXTRA_LABELS_MASK, (bestLabel & EXTRA_LABELS_MASK) + ONE_EXTRA_LABEL)
          const isBetter = packedLabelScore(packedLabel, letterCount) > packedLabelScore(bestLabel, letterCount)
          bestLabels[posting] = ((isBetter ? packedLabel : bestLabel) & ~EXTRA_LABELS_MASK) | extraLabelBits
        }
      }
    }
  }
}

function packedLabelScore(packedLabel: number, letterCount: number): number {
  if (packedLabel & IS_WHOLE_LABEL) return packedLabel & IS_ALIAS ? 2 : 3
  const coverage = Math.min(1, letterCount / (packedLabel & LENGTH_MASK))
  return labelScore(
    coverage,
    (packedLabel & BEGINS_LABEL) !== 0,
    (packedLabel & ENDS_LABEL) !== 0,
    true,
    (packedLabel & IS_ALIAS) !== 0,
  )
}
