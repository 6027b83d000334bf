import { problem } from '../../api/problem.ts'
import type { Context } from '../../context.ts'
import { fingerprint, type Item, type ItemsAnswer, type Language } from '../../questions/questions.ts'
import { questionContext } from '../items.ts'
import type { Session, SessionSkill } from '../sessions.ts'
import { seenItems, seenQuestions } from './attempts.ts'

const PER_SKILL = 3
const FEWEST = 5
/** So many times as many are asked for again of the built-in writer, whose are free: some read like those that are there. */
const PLENTY = 6

export function generationFailed() {
  return problem('GENERATION_FAILED', 'No questions could be made in time; the session is as it was. Try again.')
}

/** Asks the writer for a session's questions, until the deadline (of `performance.now()`), in a language where it can. */
export async function writeItems(
  { writer, catalogue, log, db }: Pick<Context, 'writer' | 'catalogue' | 'log' | 'db'>,
  session: Session,
  { seed, deadline, language }: { seed: string; deadline: number; language: Language },
): Promise<Item[]> {
  const seen = await seenItems(db.queries, session)
  const told = await seenQuestions(db.queries, session.id)
  const count = session.skills.length === 1 ? FEWEST : PER_SKILL
  const abort = new AbortController()
  let timer: NodeJS.Timeout | undefined
  const late = new Promise<never>((_resolve, reject) => {
    timer = setTimeout(() => reject(new Error('the writer took too long')), Math.max(1, deadline - performance.now()))
  })
  try {
    return await Promise.race([write(), late])
  } catch (error) {
    // The name alone: what a writer complains of may quote questions and their keys.
    const reason = error instanceof Error && error.name !== 'Error' ? error.name : 'the writer failed'
    log.warn({ org: session.scope.orgId, writer: writer.kind, reason }, 'questions could not be made')
    throw generationFailed()
  } finally {
    clearTimeout(timer)
    abort.abort()
  }

  /** What a writer gives for each skill; where two questions read the same, more are asked for once. */
  async function write(): Promise<Item[]> {
    const set = new QuestionSet(count, told)
    const first = await ask(session.skills, count, seen, seed)
    set.add(first.items)
    const short = session.skills.filter(({ number }) => set.lacks(number))
    // An endpoint that has brought too few was asked again already.
    if (short.length > 0 && !(writer.kind === 'ai' && first.short.length > 0)) {
      const avoid = [...seen, ...set.items.map(fingerprint)]
      const again = told.size > 0 ? 2 * count : count // some of these may read like earlier ones too
      const { items } = await ask(short, writer.kind === 'ai' ? again : PLENTY * count, avoid, `${seed} again`)
      const known = new Set(avoid)
      set.add(items.filter((item) => !known.has(fingerprint(item))))
      set.addSpare()
      set.add(items) // what was asked before, in other words, where there is nothing else
    }
    set.addSpare()
    if (session.skills.some(({ number }) => set.lacks(number))) throw new Error('too few questions passed the checks')
    return session.skills.flatMap(({ number }) => set.items.filter(({ skill }) => skill === number))
  }

  async function ask(skills: SessionSkill[], count: number, avoid: string[], seed: string): Promise<ItemsAnswer> {
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

/** The same number of questions for each skill, no two of which read the same. */
class QuestionSet {
  readonly items: Item[] = []
  readonly #count: number
  readonly #stems = new Set<string>()
  readonly #told: ReadonlySet<string>
  /** These read like questions of an earlier attempt, though other things are right. */
  readonly #spare: Item[] = []

  constructor(count: number, told: ReadonlySet<string>) {
    this.#count = count
    this.#told = told
  }

  add(items: Item[]): void {
    for (const item of items) {
      if (this.#told.has(item.stem)) this.#spare.push(item)
      else this.#take(item)
    }
  }

  /** Where there are no others, what reads like an earlier question has to do. */
  addSpare(): void {
    for (const item of this.#spare) this.#take(item)
  }

  #take(item: Item): void {
    if (!this.lacks(item.skill) || this.#stems.has(item.stem)) return
    this.#stems.add(item.stem)
    this.items.push(item)
  }

  lacks(number: number): boolean {
    return this.items.filter(({ skill }) => skill === number).length < this.#count
  }
}
