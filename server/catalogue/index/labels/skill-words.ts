import type { SlicedTask } from '../text/time-slicing.ts'
import type { Labels } from './labels.ts'
import type { Postings } from './postings.ts'

/**
 * The different words of each skill. The labels of a skill repeat most of their words, so a value that depends on the word, such as its
 * product with a phrase, is looked up once per skill. The labels then refer to the words of their skill by small numbers.
 */
export interface SkillWords {
  /** The words of entry index e are words[starts[e]] up to, but not including, words[starts[e + 1]]. */
  starts: Int32Array
  words: Int32Array
  /** By index in `labels.words`: the position of the word among the words of its skill. */
  positions: Int32Array
  /** The highest number of words of a skill. */
  maxCount: number
}

/** Number of skills processed between two yields. */
const SKILLS_PER_SLICE = 512

export function* buildSkillWords(labels: Labels, postings: Postings): SlicedTask<SkillWords> {
  const skillCount = labels.names.length
  // Each word of each skill has one posting.
  const skillWords = {
    starts: new Int32Array(skillCount + 1),
    words: new Int32Array(postings.entryIndexes.length),
    positions: new Int32Array(labels.words.length),
    maxCount: 0,
  }
  const lastSkills = new Int32Array(labels.vocabulary.words.length).fill(-1)
  const lastPositions = new Int32Array(labels.vocabulary.words.length)
  for (let from = 0; from < skillCount; from += SKILLS_PER_SLICE) {
    addSkills(labels, from, Math.min(skillCount, from + SKILLS_PER_SLICE), skillWords, lastSkills, lastPositions)
    yield
  }
  return skillWords
}

/** Adds the words of the skills `from` up to `to`. By word: `lastSkills` has the last skill with the word, `lastPositions` its position in it. */
function addSkills(
  { labelStarts, wordStarts, words: labelWords }: Labels,
  from: number,
  to: number,
  skillWords: SkillWords,
  lastSkills: Int32Array,
  lastPositions: Int32Array,
): void {
  const { starts, words, positions } = skillWords
  for (let entryIndex = from; entryIndex < to; entryIndex++) {
    const start = starts[entryIndex]!
    let end = start
    const lastAt = wordStarts[labelStarts[entryIndex + 1]!]!
    for (let at = wordStarts[labelStarts[entryIndex]!]!; at < lastAt; at++) {
      const word = labelWords[at]!
      if (lastSkills[word] !== entryIndex) {
        lastSkills[word] = entryIndex
        lastPositions[word] = end - start
        words[end++] = word
      }
      positions[at] = lastPositions[word]!
    }
    starts[entryIndex + 1] = end
    skillWords.maxCount = Math.max(skillWords.maxCount, end - start)
  }
}
