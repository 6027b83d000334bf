import type { Labels } from './labels.ts'
import type { Stepwise } from './slices.ts'
import { rootOf, stemOf } from './stems.ts'
import { stopWords, wordGroups } from './thesaurus.ts'

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
    for (const other of this.byRoot.get(rootOf(stem)) ?? []) put(other, SAME_ROOT, false)
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
  const byRoot = new Map<string, number[]>()
  const { vocabulary } = labels
  for (let stem = 0; stem < vocabulary.stemCount; stem++) {
    const root = rootOf(vocabulary.stem(stem))
    const others = byRoot.get(root)
    if (others) others.push(stem)
    else byRoot.set(root, [stem])
    if (stem % 1024 === 1023) yield
  }
  yield
  // A root that is only its own stem joins nothing.
  let looked = 0
  for (const [root, stems] of byRoot) {
    if (stems.length < 2 && vocabulary.stem(stems[0]!) === root) byRoot.delete(root)
    if (++looked % 2048 === 0) yield
  }
  return new Paraphrases(labels, learned, byRoot)
}

const LONGEST = 7

function* learn(labels: Labels): Stepwise<Map<number, Likeness[]>> {
  const { vocabulary, labelStarts, wordStarts, words } = labels
  const stops = new Set(Array.from(stopWords, (word) => vocabulary.find(word)))
  const pairs = new Map<number, number>()
  const seenIn = new Int32Array(vocabulary.stemCount)
  const latest = new Int32Array(vocabulary.stemCount).fill(-1)
  const size = vocabulary.stemCount
  const stems: number[] = []
  for (let entry = 0; entry + 1 < labelStarts.length; entry++) {
    if (entry % 64 === 63) yield
    const gaps = new Map<number, number[]>()
    const found = new Set<number>()
    const alone = labelStarts[entry + 1]! - labelStarts[entry]! < 2
    for (let label = labelStarts[entry]!; label < labelStarts[entry + 1]!; label++) {
      stems.length = 0
      for (let at = wordStarts[label]!; at < wordStarts[label + 1]!; at++) {
        if (!stops.has(words[at]!)) stems.push(vocabulary.stems[words[at]!]!)
      }
      for (const stem of stems) {
        if (latest[stem] === entry) continue
        latest[stem] = entry
        seenIn[stem]!++
      }
      if (alone || stems.length < 2 || stems.length > LONGEST) continue
      for (let gap = 0; gap < stems.length; gap++) {
        let key = gap
        for (let i = 0; i < stems.length; i++)
          if (i !== gap) key = Math.imul(key ^ stems[i]!, 0x9e3779b1) ^ (key >>> 13)
        const fillers = gaps.get(key)
        if (!fillers) gaps.set(key, [stems[gap]!])
        else if (!fillers.includes(stems[gap]!)) {
          for (const other of fillers) found.add(Math.min(other, stems[gap]!) * size + Math.max(other, stems[gap]!))
          fillers.push(stems[gap]!)
        }
      }
    }
    for (const pair of found) pairs.set(pair, (pairs.get(pair) ?? 0) + 1)
  }
  const learned = new Map<number, Likeness[]>()
  const put = (stem: number, other: number, likeness: number) => {
    const known = learned.get(stem)
    if (known) known.push({ stem: other, likeness, inMeaning: true })
    else learned.set(stem, [{ stem: other, likeness, inMeaning: true }])
  }
  let looked = 0
  for (const [pair, count] of pairs) {
    if (++looked % 2048 === 0) yield
    const a = Math.floor(pair / size)
    const b = pair % size
    // Seen once it may be chance, and numbers in a row are no paraphrase.
    if (count < 2 || /^\d/.test(vocabulary.stem(a)) || /^\d/.test(vocabulary.stem(b))) continue
    const share = count / (Math.sqrt(seenIn[a]! * seenIn[b]!) + 3)
    if (share < LEARNED_LEAST_SHARE) continue
    const likeness = Math.min(LEARNED_MOST, Math.round(30 + 120 * share))
    put(a, b, likeness)
    put(b, a, likeness)
  }
  return learned
}
