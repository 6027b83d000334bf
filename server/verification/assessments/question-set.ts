import { problem } from '../../api/problem.ts'
import type { Context } from '../../context.ts'
import { withDeadline } from '../../platform/deadline.ts'
import type { Language } from '../../platform/text/languages.ts'
import { fingerprint } from '../../questions/fingerprint.ts'
import type { Item, ItemsResult } from '../../questions/questions.ts'
import { questionContext } from '../items.ts'
import type { ChosenSkill, Session } from '../sessions.ts'
import { findEarlierStems, findSeenFingerprints } from './attempts.ts'

const QUESTIONS_PER_SKILL = 3
const QUESTIONS_FOR_ONE_SKILL = 5
/** If duplicates leave too few items, a second request to the built-in writer asks for this many times the usual number. */
const EXTRA_REQUEST_FACTOR = 6

export function generationFailedProblem() {
  return problem('GENERATION_FAILED', 'The questions could not be generated. The session is unchanged. Try again.')
}

/** Requests a session's questions from the writer until the deadline (in `performance.now()` time), in the language if available. */
export async function writeItems(
  { writer, catalogue, log, db }: Pick<Context, 'writer' | 'catalogue' | 'log' | 'db'>,
  session: Session,
  { seed, deadline, language }: { seed: string; deadline: number; language: Language },
): Promise<Item[]> {
  // Fingerprints identify items that the student has seen in any session; stems are the question texts of earlier attempts in this one.
  const seenFingerprints = await findSeenFingerprints(db.queries, session)
  const earlierStems = await findEarlierStems(db.queries, session.id)
  const questionsPerSkill = session.skills.length === 1 ? QUESTIONS_FOR_ONE_SKILL : QUESTIONS_PER_SKILL
  const abort = new AbortController()
  try {
    return await withDeadline(collectItems(), Math.max(1, deadline - performance.now()))
  } catch (error) {
    // Log only the error's name: its message may quote questions and their keys.
    const reason = error instanceof Error && error.name !== 'Error' ? error.name : 'the writer failed'
    log.warn(
      { org: session.scope.orgId, writer: writer.kind, reason },
      'generating questions failed, the caller has to retry',
    )
    throw generationFailedProblem()
  } finally {
    abort.abort()
  }

  /** Requests items for each skill, and once more if some of them are duplicates. */
  async function collectItems(): Promise<Item[]> {
    const questionSet = new QuestionSet(questionsPerSkill, earlierStems)
    const firstResult = await requestItems(session.skills, questionsPerSkill, seenFingerprints, seed)
    questionSet.add(firstResult.items)
    const incompleteSkills = session.skills.filter(({ number }) => questionSet.lacks(number))
    // An AI writer that returned too few items has already retried.
    if (incompleteSkills.length > 0 && !(writer.kind === 'ai' && firstResult.incompleteSkills.length > 0)) {
      const fingerprintsToAvoid = [...seenFingerprints, ...questionSet.items.map(fingerprint)]
      const retryCount = earlierStems.size > 0 ? 2 * questionsPerSkill : questionsPerSkill // some of these may duplicate earlier ones too
      const { items } = await requestItems(
        incompleteSkills,
        writer.kind === 'ai' ? retryCount : EXTRA_REQUEST_FACTOR * questionsPerSkill,
        fingerprintsToAvoid,
        `${seed} again`,
      )
      const avoided = new Set(fingerprintsToAvoid)
      questionSet.add(items.filter((item) => !avoided.has(fingerprint(item))))
      questionSet.addItemsWithEarlierStems()
      questionSet.add(items) // fall back to items that were asked before with another stem
    }
    questionSet.addItemsWithEarlierStems()
    if (session.skills.some(({ number }) => questionSet.lacks(number)))
      throw new Error('too few questions passed the checks')
    return session.skills.flatMap(({ number }) => questionSet.items.filter(({ skill }) => skill === number))
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
  readonly #questionsPerSkill: number
  readonly #stems = new Set<string>()
  readonly #earlierStems: ReadonlySet<string>
  /** Items whose stem was used in an earlier attempt. */
  readonly #itemsWithEarlierStems: Item[] = []

  constructor(questionsPerSkill: number, earlierStems: ReadonlySet<string>) {
    this.#questionsPerSkill = questionsPerSkill
    this.#earlierStems = earlierStems
  }

  add(items: Item[]): void {
    for (const item of items) {
      if (this.#earlierStems.has(item.stem)) this.#itemsWithEarlierStems.push(item)
      else this.#addIfMissing(item)
    }
  }

  /** Fills the set with items whose stem was used in an earlier attempt. */
  addItemsWithEarlierStems(): void {
    for (const item of this.#itemsWithEarlierStems) this.#addIfMissing(item)
  }

  #addIfMissing(item: Item): void {
    if (!this.lacks(item.skill) || this.#stems.has(item.stem)) return
    this.#stems.add(item.stem)
    this.items.push(item)
  }

  /** Returns true if the skill has too few questions. */
  lacks(skillNumber: number): boolean {
    return this.items.filter(({ skill }) => skill === skillNumber).length < this.#questionsPerSkill
  }
}
