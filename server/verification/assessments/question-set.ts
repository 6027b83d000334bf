import { problem } from '../../api/problem.ts'
import type { Context } from '../../context.ts'
import { withDeadline } from '../../platform/deadline.ts'
import type { Language } from '../../platform/text/languages.ts'
import { fingerprint } from '../../questions/fingerprint.ts'
import type { Item, ItemsResult } from '../../questions/questions.ts'
import { questionContext } from '../items.ts'
import type { ChosenSkill, Session } from '../sessions.ts'
import { seenItems, seenQuestions } from './attempts.ts'

const QUESTIONS_PER_SKILL = 3
const MIN_QUESTIONS = 5
/** The built-in writer costs nothing, so request this many times more items when some duplicate earlier ones. */
const EXTRA_REQUEST_FACTOR = 6

export function generationFailed() {
  return problem(
    'GENERATION_FAILED',
    'The questions could not be generated in time. The session is unchanged. Try again.',
  )
}

/** Requests a session's questions from the writer until the deadline (in `performance.now()` time), in the language if available. */
export async function writeItems(
  { writer, catalogue, log, db }: Pick<Context, 'writer' | 'catalogue' | 'log' | 'db'>,
  session: Session,
  { seed, deadline, language }: { seed: string; deadline: number; language: Language },
): Promise<Item[]> {
  const seen = await seenItems(db.queries, session)
  const earlierStems = await seenQuestions(db.queries, session.id)
  const count = session.skills.length === 1 ? MIN_QUESTIONS : QUESTIONS_PER_SKILL
  const abort = new AbortController()
  try {
    return await withDeadline(write(), Math.max(1, deadline - performance.now()))
  } catch (error) {
    // Log only the error's name: its message may quote questions and their keys.
    const reason = error instanceof Error && error.name !== 'Error' ? error.name : 'the writer failed'
    log.warn({ org: session.scope.orgId, writer: writer.kind, reason }, 'generating questions failed')
    throw generationFailed()
  } finally {
    abort.abort()
  }

  /** Requests items for each skill, and once more if some of them are duplicates. */
  async function write(): Promise<Item[]> {
    const set = new QuestionSet(count, earlierStems)
    const first = await requestItems(session.skills, count, seen, seed)
    set.add(first.items)
    const incomplete = session.skills.filter(({ number }) => set.lacks(number))
    // An AI writer that returned too few items has already retried.
    if (incomplete.length > 0 && !(writer.kind === 'ai' && first.incompleteSkills.length > 0)) {
      const avoid = [...seen, ...set.items.map(fingerprint)]
      const retryCount = earlierStems.size > 0 ? 2 * count : count // some of these may duplicate earlier ones too
      const { items } = await requestItems(
        incomplete,
        writer.kind === 'ai' ? retryCount : EXTRA_REQUEST_FACTOR * count,
        avoid,
        `${seed} again`,
      )
      const known = new Set(avoid)
      set.add(items.filter((item) => !known.has(fingerprint(item))))
      set.addNearDuplicates()
      set.add(items) // fall back to items that were asked before in other words
    }
    set.addNearDuplicates()
    if (session.skills.some(({ number }) => set.lacks(number))) throw new Error('too few questions passed the checks')
    return session.skills.flatMap(({ number }) => set.items.filter(({ skill }) => skill === number))
  }

  async function requestItems(
    skills: ChosenSkill[],
    count: number,
    avoid: string[],
    seed: string,
  ): Promise<ItemsResult> {
    return writer.writeItems({
      skills: skills.map(({ number, name }) => {
        const description = catalogue.current.skill(number)?.description ?? ''
        return { skill: { number, name, description }, count, avoid }
      }),
      context: questionContext(session.items, session.sources),
      language,
      seed,
      signal: abort.signal,
    })
  }
}

/** Collects the same number of questions per skill without duplicate stems. */
class QuestionSet {
  readonly items: Item[] = []
  readonly #count: number
  readonly #stems = new Set<string>()
  readonly #earlierStems: ReadonlySet<string>
  /** Items whose stem was used in an earlier attempt. */
  readonly #nearDuplicates: Item[] = []

  constructor(count: number, earlierStems: ReadonlySet<string>) {
    this.#count = count
    this.#earlierStems = earlierStems
  }

  add(items: Item[]): void {
    for (const item of items) {
      if (this.#earlierStems.has(item.stem)) this.#nearDuplicates.push(item)
      else this.#addIfMissing(item)
    }
  }

  /** Falls back to near-duplicates of earlier questions. */
  addNearDuplicates(): void {
    for (const item of this.#nearDuplicates) this.#addIfMissing(item)
  }

  #addIfMissing(item: Item): void {
    if (!this.lacks(item.skill) || this.#stems.has(item.stem)) return
    this.#stems.add(item.stem)
    this.items.push(item)
  }

  lacks(number: number): boolean {
    return this.items.filter(({ skill }) => skill === number).length < this.#count
  }
}
