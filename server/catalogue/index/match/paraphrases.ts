import { Growing, type Labels } from '../labels/labels.ts'
import { stopWords, wordGroups } from '../lexicon/thesaurus.ts'
import { rootOf, stemOf } from '../text/stems.ts'
import type { Stepwise } from '../text/time-slicing.ts'
import { WordTable } from '../text/word-table.ts'
import { Gaps, PairCounts } from './stem-pairs.ts'

/**
 * Which stems can stand for each other. A catalogue teaches it itself: where two labels of one skill differ in a single
 * word ("manage staff", "supervise staff"), the two words are taken for each other, the more surely the more skills
 * do so. Added to that are the hand-written groups and the stems of one root.
 */
export class Paraphrases {
  private readonly labels: Labels
  private readonly learned: Map<number, Likeness[]>
  private readonly byRoot: Map<string, number[]>

  constructor(labels: Labels, learned: Map<number, Likeness[]>, byRoot: Map<string, number[]>) {
    this.labels = labels
    this.learned = learned
    this.byRoot = byRoot
  }

  /** The catalogue's stems that a stem, known or not, may stand for, best first. */
  of(stem: string): Likeness[] {
    const { vocabulary } = this.labels
    const own = vocabulary.findStem(stem)
    const found = new Map<number, Likeness>()
    const put = (id: number, likeness: number, inMeaning: boolean) => {
      if (id >= 0 && id !== own && likeness > (found.get(id)?.likeness ?? 0))
        found.set(id, { stem: id, likeness, inMeaning })
    }
    const root = rootOf(stem)
    put(vocabulary.findStem(root), SAME_ROOT, false)
    for (const other of this.byRoot.get(root) ?? []) put(other, SAME_ROOT, false)
    for (const group of groupsOf.get(stem) ?? [])
      for (const other of group) put(vocabulary.findStem(other), SAME_GROUP, true)
    for (const { stem: other, likeness } of this.learned.get(own) ?? []) put(other, likeness, true)
    return [...found.values()].sort((a, b) => b.likeness - a.likeness)
  }
}

export interface Likeness {
  stem: number
  /** In hundredths; 100 is the same word. */
  likeness: number
  /** Another word that means the same, not another form of the same word. */
  inMeaning: boolean
}

const SAME_ROOT = 75
const SAME_GROUP = 65
const LEARNED_MOST = 80
const LEARNED_LEAST_SHARE = 0.02

const groupsOf = new Map<string, string[][]>()
for (const group of wordGroups) {
  const stems = [...new Set(group.map(stemOf))]
  for (const stem of stems) groupsOf.set(stem, [...(groupsOf.get(stem) ?? []), stems])
}

export function* buildParaphrases(labels: Labels): Stepwise<Paraphrases> {
  const learned = yield* learn(labels)
  const { vocabulary } = labels
  const roots = new WordTable()
  const rootIds = new Int32Array(vocabulary.stemCount)
  const sizes = new Growing()
  const same = new Growing()
  for (let stem = 0; stem < rootIds.length; stem++) {
    const text = vocabulary.stem(stem)
    const root = rootOf(text)
    const id = roots.addWord(root)
    if (id === sizes.size) {
      sizes.push(0)
      same.push(root === text ? 1 : 0)
    }
    sizes.items[id]!++
    rootIds[stem] = id
    if (stem % 1024 === 1023) yield
  }
  // A root that is only its own stem joins nothing.
  const byRoot = new Map<string, number[]>()
  const lists: (number[] | undefined)[] = []
  for (let stem = 0; stem < rootIds.length; stem++) {
    if (stem % 2048 === 2047) yield
    const id = rootIds[stem]!
    if (sizes.items[id] === 1 && same.items[id] === 1) continue
    const others = lists[id]
    if (others) others.push(stem)
    else {
      lists[id] = [stem]
      byRoot.set(roots.word(id), lists[id])
    }
  }
  return new Paraphrases(labels, learned, byRoot)
}

const LONGEST = 7

function* learn(labels: Labels): Stepwise<Map<number, Likeness[]>> {
  const { vocabulary, labelStarts, wordStarts, words } = labels
  const isStop = new Uint8Array(vocabulary.words.length)
  for (const word of stopWords) if (vocabulary.find(word) >= 0) isStop[vocabulary.find(word)] = 1
  const pairs = new PairCounts()
  const seenIn = new Int32Array(vocabulary.stemCount)
  const latest = new Int32Array(vocabulary.stemCount).fill(-1)
  const gaps = new Gaps()
  const stems: number[] = []
  const read = (entry: number) => {
    const alone = labelStarts[entry + 1]! - labelStarts[entry]! < 2
    gaps.begin()
    for (let label = labelStarts[entry]!; label < labelStarts[entry + 1]!; label++) {
      stems.length = 0
      for (let at = wordStarts[label]!; at < wordStarts[label + 1]!; at++) {
        const stem = vocabulary.stems[words[at]!]!
        if (isStop[words[at]!]) continue
        stems.push(stem)
        if (latest[stem] === entry) continue
        latest[stem] = entry
        seenIn[stem]!++
      }
      if (alone || stems.length < 2 || stems.length > LONGEST) continue
      for (let gap = 0; gap < stems.length; gap++) {
        let key = gap
        for (let i = 0; i < stems.length; i++)
          if (i !== gap) key = Math.imul(key ^ stems[i]!, 0x9e3779b1) ^ (key >>> 13)
        const stem = stems[gap]!
        const others = gaps.fill(key, stem)
        for (let i = 0; i < others.length; i++)
          pairs.count(Math.min(others[i]!, stem), Math.max(others[i]!, stem), entry)
      }
    }
  }
  for (let entry = 0; entry + 1 < labelStarts.length; entry++) {
    read(entry)
    if (entry % 64 === 63) yield
  }
  const learned = new Map<number, Likeness[]>()
  const put = (stem: number, other: number, likeness: number) => {
    const known = learned.get(stem)
    if (known) known.push({ stem: other, likeness, inMeaning: true })
    else learned.set(stem, [{ stem: other, likeness, inMeaning: true }])
  }
  for (let pair = 0; pair < pairs.size; pair++) {
    if (pair % 8192 === 8191) yield
    const count = pairs.counts.items[pair]!
    // Seen once it may be chance.
    if (count < 2) continue
    const a = pairs.firsts.items[pair]!
    const b = pairs.seconds.items[pair]!
    const share = count / (Math.sqrt(seenIn[a]! * seenIn[b]!) + 3)
    // Numbers in a row are no paraphrase.
    if (share < LEARNED_LEAST_SHARE || /^\d/.test(vocabulary.stem(a)) || /^\d/.test(vocabulary.stem(b))) continue
    const likeness = Math.min(LEARNED_MOST, Math.round(30 + 120 * share))
    put(a, b, likeness)
    put(b, a, likeness)
  }
  return learned
}
