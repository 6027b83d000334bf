import type { SlicedTask } from '../text/time-slicing.ts'
import { extraLabelBonus, labelScore } from './label-score.ts'
import { ALIAS, BARE_NAME, type Labels, type SkillEntry } from './labels.ts'
import { SubSkillNameStems } from './prior.ts'

/**
 * Posting lists (an inverted index): for each word, the skills with a label that contains it. Word numbers are in sorted order,
 * so the postings of all words with one prefix are one range. A posting also describes the skill's best label for that word: its
 * length, whether the word begins or ends it, and whether it is an alias. A query of one word is ranked from its postings alone.
 */
export interface Postings {
  /** The postings of word w are those from starts[w] up to, but not including, starts[w + 1]. */
  starts: Int32Array
  /** By posting: the entry index of the skill (labels.ts). */
  entryIndexes: Int32Array
  /** By posting: the length and flags of the skill's best label for the word, packed into 16 bits as follows. */
  bestLabels: Uint16Array
}

/** The number of letters of the label, at most 255. */
export const LENGTH_MASK = 0x00ff
/** The name of the skill's sub-skill contains the word, possibly inflected. */
export const IS_IN_SUB_SKILL_NAME = 0x0100
/** Two bits that count the other occurrences of the word in the skill's labels, from 0 to 3. */
const ONE_EXTRA_LABEL = 0x0200
const EXTRA_LABELS_MASK = 0x0600
/** The label consists of this word only. */
export const IS_WHOLE_LABEL = 0x0800
/** The word is the last of the label. */
export const ENDS_LABEL = 0x1000
/** The label is the skill's name without its note in brackets. */
export const IS_BARE_NAME = 0x2000
/** The word is the first of the label. */
export const BEGINS_LABEL = 0x4000
/** The label is an alias. */
export const IS_ALIAS = 0x8000

/** Returns the bonus of a posting for the other labels of the skill that contain the word. */
export function postingExtraLabelBonus(packedLabel: number): number {
  return extraLabelBonus((packedLabel & EXTRA_LABELS_MASK) / ONE_EXTRA_LABEL)
}

/** Number of skills processed between two yields. */
const SKILLS_PER_SLICE = 512

export function* buildPostings(labels: Labels, entries: readonly SkillEntry[]): SlicedTask<Postings> {
  const skillCount = labels.labelStarts.length - 1
  const wordCount = labels.vocabulary.words.length
  const starts = new Int32Array(wordCount + 1)
  const lastEntryIndexOfWord = new Int32Array(wordCount).fill(-1)
  for (let from = 0; from < skillCount; from += SKILLS_PER_SLICE) {
    countSkillsPerWord(labels, from, Math.min(skillCount, from + SKILLS_PER_SLICE), starts, lastEntryIndexOfWord)
    yield
  }
  for (let word = 0; word < wordCount; word++) starts[word + 1]! += starts[word]!
  const postings = {
    starts,
    entryIndexes: new Int32Array(starts[wordCount]!),
    bestLabels: new Uint16Array(starts[wordCount]!),
  }
  const nextPositions = starts.slice()
  lastEntryIndexOfWord.fill(-1)
  const subSkillStems = new SubSkillNameStems(labels.vocabulary)
  for (let from = 0; from < skillCount; from += SKILLS_PER_SLICE) {
    const batch = entries.slice(from, from + SKILLS_PER_SLICE)
    addPostings(labels, batch, from, subSkillStems, postings, nextPositions, lastEntryIndexOfWord)
    yield
  }
  return postings
}

/**
 * Adds to starts[w + 1] the number of skills that contain word w. `lastEntryIndexOfWord` has the last skill counted for each
 * word, so that a skill counts once, even if several of its labels contain the word.
 */
function countSkillsPerWord(
  labels: Labels,
  fromEntryIndex: number,
  toEntryIndex: number,
  starts: Int32Array,
  lastEntryIndexOfWord: Int32Array,
): void {
  const { labelStarts, wordStarts, words } = labels
  for (let entryIndex = fromEntryIndex; entryIndex < toEntryIndex; entryIndex++) {
    const end = wordStarts[labelStarts[entryIndex + 1]!]!
    for (let at = wordStarts[labelStarts[entryIndex]!]!; at < end; at++) {
      const word = words[at]!
      if (lastEntryIndexOfWord[word] === entryIndex) continue
      lastEntryIndexOfWord[word] = entryIndex
      starts[word + 1]!++
    }
  }
}

/** Writes the postings of a batch of skills. The next posting of word w is written at nextPositions[w]. */
function addPostings(
  labels: Labels,
  batch: readonly SkillEntry[],
  firstEntryIndex: number,
  subSkillStems: SubSkillNameStems,
  { entryIndexes, bestLabels }: Postings,
  nextPositions: Int32Array,
  lastEntryIndexOfWord: Int32Array,
): void {
  const { vocabulary, labelStarts, wordStarts, words, kinds, letterCounts } = labels
  for (let i = 0; i < batch.length; i++) {
    const entryIndex = firstEntryIndex + i
    subSkillStems.setSubSkill(batch[i]!.sub)
    for (let label = labelStarts[entryIndex]!; label < labelStarts[entryIndex + 1]!; label++) {
      const firstWord = wordStarts[label]!
      const endWord = wordStarts[label + 1]!
      const kind = kinds[label] === ALIAS ? IS_ALIAS : kinds[label] === BARE_NAME ? IS_BARE_NAME : 0
      const labelFlags =
        Math.min(LENGTH_MASK, letterCounts[label]!) | kind | (endWord - firstWord === 1 ? IS_WHOLE_LABEL : 0)
      for (let at = firstWord; at < endWord; at++) {
        const word = words[at]!
        const subSkillFlag = subSkillStems.containsStem[vocabulary.stems[word]!]! ? IS_IN_SUB_SKILL_NAME : 0
        const packedLabel =
          labelFlags | subSkillFlag | (at === firstWord ? BEGINS_LABEL : 0) | (at + 1 === endWord ? ENDS_LABEL : 0)
        if (lastEntryIndexOfWord[word] !== entryIndex) {
          lastEntryIndexOfWord[word] = entryIndex
          entryIndexes[nextPositions[word]!] = entryIndex
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

/** Scores of `packedLabelScore` for a label that is the word itself. */
const WHOLE_NAME_SCORE = 3
const WHOLE_ALIAS_SCORE = 2

/**
 * Returns a score that compares two labels of a skill for a word with this many letters. A label that is the word itself scores
 * higher than any other label, which scores at most 1.
 */
function packedLabelScore(packedLabel: number, letterCount: number): number {
  if (packedLabel & IS_WHOLE_LABEL) return packedLabel & IS_ALIAS ? WHOLE_ALIAS_SCORE : WHOLE_NAME_SCORE
  const coverage = Math.min(1, letterCount / (packedLabel & LENGTH_MASK))
  return labelScore(
    coverage,
    (packedLabel & BEGINS_LABEL) !== 0,
    (packedLabel & ENDS_LABEL) !== 0,
    true,
    (packedLabel & IS_ALIAS) !== 0,
  )
}
