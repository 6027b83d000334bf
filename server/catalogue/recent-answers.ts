import { hashOf } from './index/tokens.ts'
import type { Snapshot } from './snapshot.ts'

/** Bytes of one generation; two are kept. */
const MOST_BYTES = 2 * 1024 * 1024

/** Questions of late that are known by their hash, to tell what is asked again: a power of two. */
const ASKED = 4096

interface Answer {
  body: string | Buffer
}

/**
 * The answers to the searches of late. Those who type the same words ask for the same beginnings again and again, and finding and
 * writing an answer costs as much as the rest of the call. Kept is what is asked a second time, since most is asked once;
 * what was asked for since the last change of generations stays. All of it is forgotten with the snapshot in which it was found.
 */
export class RecentAnswers<Kept extends Answer> {
  #snapshot: Snapshot | undefined
  #young = new Map<string, Kept>()
  #old = new Map<string, Kept>()
  #bytes = 0
  readonly #asked = new Int32Array(ASKED)

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
    const place = hash & (ASKED - 1)
    if (this.#asked[place] === hash) return true
    this.#asked[place] = hash
    return false
  }

  #keep(question: string, answer: Kept): void {
    this.#bytes += answer.body.length + 2 * question.length
    if (this.#bytes > MOST_BYTES) {
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
