import type { Snapshot } from './snapshot.ts'

/** Bytes of one generation; two are kept. */
const MOST_BYTES = 2 * 1024 * 1024

interface Answer {
  body: string | Buffer
}

/**
 * The answers to the searches of late. Those who type the same words ask for the same beginnings again and again, and finding and
 * writing an answer costs as much as the rest of the call. What was asked for since the last change of generations stays;
 * all of it is forgotten with the snapshot in which it was found.
 */
export class RecentAnswers<Kept extends Answer> {
  #snapshot: Snapshot | undefined
  #young = new Map<string, Kept>()
  #old = new Map<string, Kept>()
  #bytes = 0

  /** The kept answer to a question, or the one that `find` makes now; what `find` throws is not kept. */
  answer(snapshot: Snapshot, question: string, find: () => Kept): Kept {
    if (snapshot !== this.#snapshot) this.#forget(snapshot)
    const young = this.#young.get(question)
    if (young) return young
    const answer = this.#old.get(question) ?? find()
    this.#keep(question, answer)
    return answer
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
