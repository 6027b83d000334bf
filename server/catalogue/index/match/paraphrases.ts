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
  private readonly learned: Map<number, SimilarStem[]>
  private readonly byRoot: Map<string, number[]>

  constructor(labels: Labels, learned: Map<number, SimilarStem[]>, byRoot: Map<string, number[]>) {
    this.labels = labels
    this.learned = learned
    this.byRoot = byRoot
  }

  /** Returns the catalogue's stems that can replace a stem, which need not be in the catalogue; most similar first. */
  of(stem: string): SimilarStem[] {
    const { vocabulary } = this.labels
    const own = vocabulary.findStem(stem)
    const found = new Map<number, SimilarStem>()
    const add = (id: number, similarity: number, isSynonym: boolean) => {
      if (id >= 0 && id !== own && similarity > (found.get(id)?.similarity ?? 0))
        found.set(id, { stem: id, similarity, isSynonym })
    }
    const root = rootOf(stem)
    add(vocabulary.findStem(root), SAME_ROOT_SIMILARITY, false)
    for (const other of this.byRoot.get(root) ?? []) add(other, SAME_ROOT_SIMILARITY, false)
    for (const group of groupsByStem.get(stem) ?? [])
      for (const other of group) add(vocabulary.findStem(other), SAME_GROUP_SIMILARITY, true)
    for (const { stem: other, similarity } of this.learned.get(own) ?? []) add(other, similarity, true)
    return [...found.values()].sort((a, b) => b.similarity - a.similarity)
  }
}

export interface SimilarStem {
  stem: number
  /** In hundredths; 100 is the same word. */
  similarity: number
  /** Whether it is another word with the same meaning, not another form of the word. */
  isSynonym: boolean
}

/** In hundredths. */
const SAME_ROOT_SIMILARITY = 75
const SAME_GROUP_SIMILARITY = 65
const MAX_LEARNED_SIMILARITY = 80
/** Pairs that share a smaller fraction of their occurrences are treated as coincidence. */
const MIN_LEARNED_OVERLAP = 0.02

const groupsByStem = new Map<string, string[][]>()
for (const group of synonymGroups) {
  const stems = [...new Set(group.map(stemOf))]
  for (const stem of stems) groupsByStem.set(stem, [...(groupsByStem.get(stem) ?? []), stems])
}

export function* buildParaphrases(labels: Labels): SlicedTask<Paraphrases> {
  const learned = yield* learnPairs(labels)
  const { vocabulary } = labels
  const roots = new WordTable()
  const rootIds = new Int32Array(vocabulary.stemCount)
  const sizes = new Int32List()
  const isOwnStem = new Int32List()
  for (let stem = 0; stem < rootIds.length; stem++) {
    const text = vocabulary.stem(stem)
    const root = rootOf(text)
    const id = roots.addWord(root)
    if (id === sizes.size) {
      sizes.push(0)
      isOwnStem.push(root === text ? 1 : 0)
    }
    sizes.items[id]!++
    rootIds[stem] = id
    if (stem % 1024 === 1023) yield
  }
  // A root that is its own and only stem relates no stems, so it is left out.
  const byRoot = new Map<string, number[]>()
  const lists: (number[] | undefined)[] = []
  for (let stem = 0; stem < rootIds.length; stem++) {
    if (stem % 2048 === 2047) yield
    const id = rootIds[stem]!
    if (sizes.items[id] === 1 && isOwnStem.items[id] === 1) continue
    const others = lists[id]
    if (others) others.push(stem)
    else {
      lists[id] = [stem]
      byRoot.set(roots.word(id), lists[id])
    }
  }
  return new Paraphrases(labels, learned, byRoot)
}

/** Longer labels are ignored when pairs are learned. */
const MAX_LABEL_STEMS = 7

function* learnPairs(labels: Labels): SlicedTask<Map<number, SimilarStem[]>> {
  const { vocabulary, labelStarts, wordStarts, words } = labels
  const isStop = new Uint8Array(vocabulary.words.length)
  for (const word of stopWords) if (vocabulary.find(word) >= 0) isStop[vocabulary.find(word)] = 1
  const pairs = new PairCounts()
  const skillCounts = new Int32Array(vocabulary.stemCount)
  const latest = new Int32Array(vocabulary.stemCount).fill(-1)
  const contexts = new LabelContexts()
  const stems: number[] = []
  const readSkill = (entry: number) => {
    const hasOneLabel = labelStarts[entry + 1]! - labelStarts[entry]! < 2
    contexts.reset()
    for (let label = labelStarts[entry]!; label < labelStarts[entry + 1]!; label++) {
      stems.length = 0
      for (let at = wordStarts[label]!; at < wordStarts[label + 1]!; at++) {
        const stem = vocabulary.stems[words[at]!]!
        if (isStop[words[at]!]) continue
        stems.push(stem)
        if (latest[stem] === entry) continue
        latest[stem] = entry
        skillCounts[stem]!++
      }
      if (hasOneLabel || stems.length < 2 || stems.length > MAX_LABEL_STEMS) continue
      for (let leftOut = 0; leftOut < stems.length; leftOut++) {
        let context = leftOut
        for (let i = 0; i < stems.length; i++)
          if (i !== leftOut) context = Math.imul(context ^ stems[i]!, 0x9e3779b1) ^ (context >>> 13)
        const stem = stems[leftOut]!
        const others = contexts.add(context, stem)
        for (let i = 0; i < others.length; i++)
          pairs.count(Math.min(others[i]!, stem), Math.max(others[i]!, stem), entry)
      }
    }
  }
  for (let entry = 0; entry + 1 < labelStarts.length; entry++) {
    readSkill(entry)
    if (entry % 64 === 63) yield
  }
  const learned = new Map<number, SimilarStem[]>()
  const add = (stem: number, other: number, similarity: number) => {
    const similar = learned.get(stem)
    if (similar) similar.push({ stem: other, similarity, isSynonym: true })
    else learned.set(stem, [{ stem: other, similarity, isSynonym: true }])
  }
  for (let pair = 0; pair < pairs.size; pair++) {
    if (pair % 8192 === 8191) yield
    const count = pairs.counts.items[pair]!
    // A single occurrence may be a coincidence.
    if (count < 2) continue
    const a = pairs.firsts.items[pair]!
    const b = pairs.seconds.items[pair]!
    const overlap = count / (Math.sqrt(skillCounts[a]! * skillCounts[b]!) + 3)
    // Numbers in labels such as "grade 1" and "grade 2" are not paraphrases.
    if (overlap < MIN_LEARNED_OVERLAP || /^\d/.test(vocabulary.stem(a)) || /^\d/.test(vocabulary.stem(b))) continue
    const similarity = Math.min(MAX_LEARNED_SIMILARITY, Math.round(30 + 120 * overlap))
    add(a, b, similarity)
    add(b, a, similarity)
  }
  return learned
}
