import type { Labels } from '../labels/labels.ts'
import { stopWords, synonymGroups } from '../lexicon/lexicon.ts'
import { rootOf, stemOf } from '../lexicon/stems.ts'
import { Int32List } from '../text/int32-list.ts'
import type { SlicedTask } from '../text/time-slicing.ts'
import { WordTable } from '../text/word-table.ts'
import { LabelContexts, PairCounts } from './stem-pairs.ts'

/**
 * Stems that can replace each other, from three sources: pairs that the catalogue's own labels suggest, the groups of the
 * thesaurus, and stems with the same root. If two labels of one skill differ in a single word ("manage staff", "supervise
 * staff"), the two words are paraphrases, and the more skills show the same pair, the more similar they are.
 */
export class Paraphrases {
  private readonly labels: Labels
  private readonly learnedStems: Map<number, SimilarStem[]>
  private readonly stemsByRoot: Map<string, number[]>

  constructor(labels: Labels, learnedStems: Map<number, SimilarStem[]>, stemsByRoot: Map<string, number[]>) {
    this.labels = labels
    this.learnedStems = learnedStems
    this.stemsByRoot = stemsByRoot
  }

  /** Returns the catalogue's stems that can replace a stem, which need not be in the catalogue; most similar first. */
  similarStemsOf(stem: string): SimilarStem[] {
    const { vocabulary } = this.labels
    const ownStem = vocabulary.findStem(stem)
    const similarStems = new Map<number, SimilarStem>()
    const add = (id: number, similarity: number, isSynonym: boolean) => {
      if (id >= 0 && id !== ownStem && similarity > (similarStems.get(id)?.similarity ?? 0))
        similarStems.set(id, { stem: id, similarity, isSynonym })
    }
    const root = rootOf(stem)
    add(vocabulary.findStem(root), SAME_ROOT_SIMILARITY_PERCENT, false)
    for (const other of this.stemsByRoot.get(root) ?? []) add(other, SAME_ROOT_SIMILARITY_PERCENT, false)
    for (const group of groupsByStem.get(stem) ?? [])
      for (const other of group) add(vocabulary.findStem(other), SAME_GROUP_SIMILARITY_PERCENT, true)
    for (const { stem: other, similarity } of this.learnedStems.get(ownStem) ?? []) add(other, similarity, true)
    return [...similarStems.values()].sort((a, b) => b.similarity - a.similarity)
  }
}

export interface SimilarStem {
  stem: number
  /** In hundredths; 100 is the same word. */
  similarity: number
  /** Whether it is another word with the same meaning, not another form of the word. */
  isSynonym: boolean
}

/** Similarities of two stems, in hundredths. */
const SAME_ROOT_SIMILARITY_PERCENT = 75
const SAME_GROUP_SIMILARITY_PERCENT = 65
const MAX_LEARNED_SIMILARITY_PERCENT = 80
/** Pairs that share a smaller fraction of their occurrences are treated as coincidence. */
const MIN_LEARNED_OVERLAP = 0.02

const groupsByStem = new Map<string, string[][]>()
for (const group of synonymGroups) {
  const stems = [...new Set(group.map(stemOf))]
  for (const stem of stems) groupsByStem.set(stem, [...(groupsByStem.get(stem) ?? []), stems])
}

export function* buildParaphrases(labels: Labels): SlicedTask<Paraphrases> {
  const learnedStems = yield* learnPairs(labels)
  const { vocabulary } = labels
  const roots = new WordTable()
  const rootIds = new Int32Array(vocabulary.stemCount)
  const stemCounts = new Int32List()
  const isRootItself = new Int32List()
  for (let stem = 0; stem < rootIds.length; stem++) {
    const stemText = vocabulary.stem(stem)
    const root = rootOf(stemText)
    const id = roots.addWord(root)
    if (id === stemCounts.size) {
      stemCounts.push(0)
      isRootItself.push(root === stemText ? 1 : 0)
    }
    stemCounts.items[id]!++
    rootIds[stem] = id
    if (stem % 1024 === 1023) yield
  }
  // A root that is its own and only stem relates no stems, so it is left out.
  const stemsByRoot = new Map<string, number[]>()
  const stemLists: (number[] | undefined)[] = []
  for (let stem = 0; stem < rootIds.length; stem++) {
    if (stem % 2048 === 2047) yield
    const id = rootIds[stem]!
    if (stemCounts.items[id] === 1 && isRootItself.items[id] === 1) continue
    const stemsOfRoot = stemLists[id]
    if (stemsOfRoot) stemsOfRoot.push(stem)
    else {
      stemLists[id] = [stem]
      stemsByRoot.set(roots.word(id), stemLists[id])
    }
  }
  return new Paraphrases(labels, learnedStems, stemsByRoot)
}

/** Maximum number of stems of a label from which pairs are learned. */
const MAX_LABEL_STEMS = 7

function* learnPairs(labels: Labels): SlicedTask<Map<number, SimilarStem[]>> {
  const { vocabulary, labelStarts, wordStarts, words } = labels
  const isStopWord = new Uint8Array(vocabulary.words.length)
  for (const word of stopWords) if (vocabulary.find(word) >= 0) isStopWord[vocabulary.find(word)] = 1
  const pairs = new PairCounts()
  const skillCounts = new Int32Array(vocabulary.stemCount)
  const lastEntries = new Int32Array(vocabulary.stemCount).fill(-1)
  const contexts = new LabelContexts()
  const stems: number[] = []
  const readSkill = (entry: number) => {
    const hasOneLabel = labelStarts[entry + 1]! - labelStarts[entry]! < 2
    contexts.reset()
    for (let label = labelStarts[entry]!; label < labelStarts[entry + 1]!; label++) {
      stems.length = 0
      for (let at = wordStarts[label]!; at < wordStarts[label + 1]!; at++) {
        const stem = vocabulary.stems[words[at]!]!
        if (isStopWord[words[at]!]) continue
        stems.push(stem)
        if (lastEntries[stem] === entry) continue
        lastEntries[stem] = entry
        skillCounts[stem]!++
      }
      if (hasOneLabel || stems.length < 2 || stems.length > MAX_LABEL_STEMS) continue
      for (let leftOut = 0; leftOut < stems.length; leftOut++) {
        let context = leftOut
        for (let i = 0; i < stems.length; i++)
          if (i !== leftOut) context = Math.imul(context ^ stems[i]!, 0x9e3779b1) ^ (context >>> 13)
        const stem = stems[leftOut]!
        const otherStems = contexts.add(context, stem)
        for (let i = 0; i < otherStems.length; i++)
          pairs.count(Math.min(otherStems[i]!, stem), Math.max(otherStems[i]!, stem), entry)
      }
    }
  }
  for (let entry = 0; entry + 1 < labelStarts.length; entry++) {
    readSkill(entry)
    if (entry % 64 === 63) yield
  }
  const learnedStems = new Map<number, SimilarStem[]>()
  const add = (stem: number, other: number, similarity: number) => {
    const similarStems = learnedStems.get(stem)
    if (similarStems) similarStems.push({ stem: other, similarity, isSynonym: true })
    else learnedStems.set(stem, [{ stem: other, similarity, isSynonym: true }])
  }
  for (let pair = 0; pair < pairs.size; pair++) {
    if (pair % 8192 === 8191) yield
    const skillCount = pairs.counts.items[pair]!
    // A single occurrence may be a coincidence.
    if (skillCount < 2) continue
    const a = pairs.firstStems.items[pair]!
    const b = pairs.secondStems.items[pair]!
    const overlap = skillCount / (Math.sqrt(skillCounts[a]! * skillCounts[b]!) + 3)
    // Numbers in labels such as "grade 1" and "grade 2" are not paraphrases.
    if (overlap < MIN_LEARNED_OVERLAP || /^\d/.test(vocabulary.stem(a)) || /^\d/.test(vocabulary.stem(b))) continue
    const similarity = Math.min(MAX_LEARNED_SIMILARITY_PERCENT, Math.round(30 + 120 * overlap))
    add(a, b, similarity)
    add(b, a, similarity)
  }
  return learnedStems
}
