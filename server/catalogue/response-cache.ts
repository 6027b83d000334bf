import { hashOf } from './index/text/tokens.ts'
import type { Snapshot } from './snapshot.ts'

interface Keeping<Kept> {
  /** Bytes of one generation; two are kept. */
  most: number
  /** About how many bytes an answer takes. */
  size: (answer: Kept) => number
  /** So many questions of late are known by their hash, to tell what is asked again: a power of two. */
  asked: number
}

/** Bytes of an entry beside its question and its answer. */
const ENTRY = 100

/**
 * The answers to the questions of late. Those who type the same words ask for the same beginnings again and again, and finding and
 * writing an answer costs as much as the rest of the call. Kept is what is asked a second time, since most is asked once;
 * what was asked for since the last change of generations stays. All of it is forgotten with the snapshot in which it was found.
 */
export class RecentAnswers<Kept extends object> {
  #snapshot: Snapshot | undefined
  #young = new Map<string, Kept>()
  #old = new Map<string, Kept>()
  #bytes = 0
  readonly #keeping: Keeping<Kept>
  readonly #asked: Int32Array

  constructor(keeping: Keeping<Kept>) {
    this.#keeping = keeping
    this.#asked = new Int32Array(keeping.asked)
  }

  /** The kept answer to a question, or the one that `find` makes now; what `find` throws is not kept. */
  answer(snapshot: Snapshot, question: string, find: () => Kept): Kept {
    if (snapshot !== this.#snapshot) this.#forget(snapshot)
    const young = this.#young.get(question)
    if (young) return young
    const old = this.#old.get(question)
    const answer = old ?? find()
    if (old || this.#askedBefore(question)) this.#keep(question, answer)
    return answer
  }

  /** Whether the question was asked of late; of those that fall on one place, the last. */
  #askedBefore(question: string): boolean {
    const hash = hashOf(question)
    const place = hash & (this.#asked.length - 1)
    if (this.#asked[place] === hash) return true
    this.#asked[place] = hash
    return false
  }

  #keep(question: string, answer: Kept): void {
    this.#bytes += this.#keeping.size(answer) + 2 * question.length + ENTRY
    if (this.#bytes > this.#keeping.most) {
      this.#old = this.#young
      this.#young = new Map()
      this.#bytes = 0
    }
    this.#young.set(question, answer)
  }

  #forget(snapshot: Snapshot): void {
    this.#snapshot = snapshot
    this.#young = new Map()
    this.#old = new Map()
    this.#bytes = 0
  }
}

const MEGABYTE = 1024 * 1024

/** Answers as they are sent: some hundreds of those that are asked most. */
export function recentBodies<Kept extends { body: string | Buffer }>(): RecentAnswers<Kept> {
  return new RecentAnswers<Kept>({ most: MEGABYTE, size: ({ body }) => body.length, asked: 4096 })
}

/** What was found, to be written anew: that of thousands of questions. */
export function recentFinds<Kept extends { found: readonly unknown[] }>(): RecentAnswers<Kept> {
  return new RecentAnswers<Kept>({ most: 2 * MEGABYTE, size: ({ found }) => 8 * found.length, asked: 32_768 })
}
