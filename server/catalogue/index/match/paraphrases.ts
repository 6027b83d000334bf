import type { Labels } from '../labels/labels.ts'
import { stopWords, synonymGroups } from '../lexicon/lexicon.ts'
import { rootOf, stemOf } from '../lexicon/stems.ts'
import { Int32List } from '../text/int32-list.ts'
import type { SlicedTask } from '../text/time-slicing.ts'
import { WordTable } from '../text/word-table.ts'
import { LabelContexts, PairCounts } from './stem-pairs.ts'

/**
 * Finds stems with a similar meaning, from three sources:
 *
 * - Stems with the same root: develop, development.
 * - Synonym groups of the thesaurus: truck, lorry.
 * - Synonyms learned from the catalogue. If two labels of one skill differ in a single word ("manage staff" and "supervise
 *   staff"), the two words are probably synonyms. Their similarity is higher if the pair occurs in more skills.
 */
export class Paraphrases {
  private readonly labels: Labels
  /** By stem number. */
  private readonly learnedSynonyms: Map<number, SimilarStem[]>
  /** By root: the numbers of the stems that have this root. */
  private readonly stemsByRoot: Map<string, number[]>

  constructor(labels: Labels, learnedSynonyms: Map<number, SimilarStem[]>, stemsByRoot: Map<string, number[]>) {
    this.labels = labels
    this.learnedSynonyms = learnedSynonyms
    this.stemsByRoot = stemsByRoot
  }

  /** Returns the arguments of the constructor. */
  storedParts(): ConstructorParameters<typeof Paraphrases> {
    return [this.labels, this.learnedSynonyms, this.stemsByRoot]
  }

  /**
   * Returns the stems of the catalogue that are similar to `stem`, most similar first. `stem` may be missing from the catalogue.
   */
  similarStemsOf(stem: string): SimilarStem[] {
    const { vocabulary } = this.labels
    const ownStem = vocabulary.findStem(stem)
    const similarStems = new Map<number, SimilarStem>()
    const add = (stemNumber: number, similarity: number, isSynonym: boolean) => {
      if (stemNumber >= 0 && stemNumber !== ownStem && similarity > (similarStems.get(stemNumber)?.similarity ?? 0))
        similarStems.set(stemNumber, { stem: stemNumber, similarity, isSynonym })
    }
    const root = rootOf(stem)
    add(vocabulary.findStem(root), SAME_ROOT_SIMILARITY_PERCENT, false)
    for (const other of this.stemsByRoot.get(root) ?? []) add(other, SAME_ROOT_SIMILARITY_PERCENT, false)
    for (const group of synonymGroupsByStem.get(stem) ?? [])
      for (const other of group) add(vocabulary.findStem(other), THESAURUS_SIMILARITY_PERCENT, true)
    for (const { stem: other, similarity } of this.learnedSynonyms.get(ownStem) ?? []) add(other, similarity, true)
    return [...similarStems.values()].sort((a, b) => b.similarity - a.similarity)
  }
}

export interface SimilarStem {
  /** Number of the stem in the vocabulary. */
  stem: number
  /** In percent; 100 is the same stem. */
  similarity: number
  /**
   * True for another word with the same meaning (lorry for truck). False for another form of the word (development for develop).
   */
  isSynonym: boolean
}

/** Similarities of two stems. */
const SAME_ROOT_SIMILARITY_PERCENT = 75
const THESAURUS_SIMILARITY_PERCENT = 65
const MAX_LEARNED_SIMILARITY_PERCENT = 80
/**
 * A pair of stems with a smaller overlap is ignored as a coincidence. The overlap is the number of skills in which the two stems
 * replace each other, divided by m + OVERLAP_SMOOTHING; m is the geometric mean of the numbers of skills that contain each stem.
 */
const MIN_LEARNED_OVERLAP = 0.02
/** Reduces the overlap of stems that few skills contain, because a coincidence is more likely there. */
const OVERLAP_SMOOTHING = 3
/** The similarity of learned synonyms, in percent, increases with their overlap: 30 + 120 * overlap. */
const BASE_LEARNED_SIMILARITY_PERCENT = 30
const LEARNED_SIMILARITY_PERCENT_PER_OVERLAP = 120
/** A pair that occurs in a single skill may be a coincidence. */
const MIN_SKILLS_WITH_PAIR = 2

/** By stem: the synonym groups of the thesaurus that contain it, as lists of stems. */
const synonymGroupsByStem = new Map<string, string[][]>()
for (const group of synonymGroups) {
  const stems = [...new Set(group.map(stemOf))]
  for (const stem of stems) synonymGroupsByStem.set(stem, [...(synonymGroupsByStem.get(stem) ?? []), stems])
}

export function* buildParaphrases(labels: Labels): SlicedTask<Paraphrases> {
  const learnedSynonyms = yield* learnSynonyms(labels)
  const { vocabulary } = labels
  const roots = new WordTable()
  const rootIds = new Int32Array(vocabulary.stemCount)
  /** By root ID: the number of stems with this root, and 1 if the first of them equals the root. */
  const stemCounts = new Int32List()
  const firstStemEqualsRoot = new Int32List()
  for (let stem = 0; stem < rootIds.length; stem++) {
    const stemText = vocabulary.stemText(stem)
    const root = rootOf(stemText)
    const rootId = roots.addWord(root)
    if (rootId === stemCounts.size) {
      stemCounts.push(0)
      firstStemEqualsRoot.push(root === stemText ? 1 : 0)
    }
    stemCounts.items[rootId]!++
    rootIds[stem] = rootId
    if (stem % 1024 === 1023) yield
  }
  // A root is skipped if its only stem is the root itself, because it connects no stems.
  const stemsByRoot = new Map<string, number[]>()
  const stemsByRootId: (number[] | undefined)[] = []
  for (let stem = 0; stem < rootIds.length; stem++) {
    if (stem % 2048 === 2047) yield
    const rootId = rootIds[stem]!
    if (stemCounts.items[rootId] === 1 && firstStemEqualsRoot.items[rootId] === 1) continue
    const stemsOfRoot = stemsByRootId[rootId]
    if (stemsOfRoot) stemsOfRoot.push(stem)
    else {
      stemsByRootId[rootId] = [stem]
      stemsByRoot.set(roots.word(rootId), stemsByRootId[rootId])
    }
  }
  return new Paraphrases(labels, learnedSynonyms, stemsByRoot)
}

/** Labels with more stems than this are not used to learn synonyms. */
const MAX_LABEL_STEMS = 7

/** Finds pairs of stems that replace each other in the labels of at least two skills. */
function* learnSynonyms(labels: Labels): SlicedTask<Map<number, SimilarStem[]>> {
  const { vocabulary, labelStarts, wordStarts, words } = labels
  const isStopWord = new Uint8Array(vocabulary.words.length)
  for (const word of stopWords) if (vocabulary.find(word) >= 0) isStopWord[vocabulary.find(word)] = 1
  const pairs = new PairCounts()
  /** By stem number: the number of skills that contain the stem. */
  const skillCounts = new Int32Array(vocabulary.stemCount)
  const lastEntryIndexes = new Int32Array(vocabulary.stemCount).fill(-1)
  const contexts = new LabelContexts()
  const stems: number[] = []
  const readSkill = (entryIndex: number) => {
    const hasOneLabel = labelStarts[entryIndex + 1]! - labelStarts[entryIndex]! < 2
    contexts.reset()
    for (let label = labelStarts[entryIndex]!; label < labelStarts[entryIndex + 1]!; label++) {
      stems.length = 0
      for (let at = wordStarts[label]!; at < wordStarts[label + 1]!; at++) {
        const stem = vocabulary.stems[words[at]!]!
        if (isStopWord[words[at]!]) continue
        stems.push(stem)
        if (lastEntryIndexes[stem] === entryIndex) continue
        lastEntryIndexes[stem] = entryIndex
        skillCounts[stem]!++
      }
      if (hasOneLabel || stems.length < 2 || stems.length > MAX_LABEL_STEMS) continue
      for (let omittedPosition = 0; omittedPosition < stems.length; omittedPosition++) {
        // The context is the label without one word, identified by a hash of the other words and of the position of the gap.
        let contextHash = omittedPosition
        for (let i = 0; i < stems.length; i++)
          if (i !== omittedPosition) contextHash = Math.imul(contextHash ^ stems[i]!, 0x9e3779b1) ^ (contextHash >>> 13)
        const stem = stems[omittedPosition]!
        const otherStems = contexts.add(contextHash, stem)
        for (let i = 0; i < otherStems.length; i++)
          pairs.count(Math.min(otherStems[i]!, stem), Math.max(otherStems[i]!, stem), entryIndex)
      }
    }
  }
  for (let entryIndex = 0; entryIndex + 1 < labelStarts.length; entryIndex++) {
    readSkill(entryIndex)
    if (entryIndex % 64 === 63) yield
  }
  const learnedSynonyms = new Map<number, SimilarStem[]>()
  const add = (stem: number, synonym: number, similarity: number) => {
    const similarStems = learnedSynonyms.get(stem)
    if (similarStems) similarStems.push({ stem: synonym, similarity, isSynonym: true })
    else learnedSynonyms.set(stem, [{ stem: synonym, similarity, isSynonym: true }])
  }
  for (let pair = 0; pair < pairs.size; pair++) {
    if (pair % 8192 === 8191) yield
    const skillCount = pairs.counts.items[pair]!
    if (skillCount < MIN_SKILLS_WITH_PAIR) continue
    const firstStem = pairs.firstStems.items[pair]!
    const secondStem = pairs.secondStems.items[pair]!
    const overlap = skillCount / (Math.sqrt(skillCounts[firstStem]! * skillCounts[secondStem]!) + OVERLAP_SMOOTHING)
    if (overlap < MIN_LEARNED_OVERLAP) continue
    // Numbers are not synonyms, although labels such as "grade 1" and "grade 2" have the same context.
    if (/^\d/.test(vocabulary.stemText(firstStem)) || /^\d/.test(vocabulary.stemText(secondStem))) continue
    const similarity = Math.min(
      MAX_LEARNED_SIMILARITY_PERCENT,
      Math.round(BASE_LEARNED_SIMILARITY_PERCENT + LEARNED_SIMILARITY_PERCENT_PER_OVERLAP * overlap),
    )
    add(firstStem, secondStem, similarity)
    add(secondStem, firstStem, similarity)
  }
  return learnedSynonyms
}
