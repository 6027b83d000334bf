import { problem } from '../../api/problem.ts'
import type { Context } from '../../context.ts'
import { SkillItemSource } from '../../items/skill-item-source.ts'
import { KEY } from '../../measurement/form.ts'
import { PRIOR_DIFFICULTIES } from '../../measurement/model.ts'
import { withDeadline } from '../../platform/deadline.ts'
import type { Language } from '../../platform/text/languages.ts'
import { fingerprint } from '../../questions/fingerprint.ts'
import type { Item, ItemWriter } from '../../questions/questions.ts'
import { questionContext } from '../items.ts'
import type { ChosenSkill } from '../session-skills.ts'
import type { Session } from '../sessions.ts'
import { findEarlierStems, findSeenItems } from './attempts.ts'
import { type AssessmentItem, drawQuestions } from './draw-questions.ts'

const QUESTIONS_PER_SKILL = 5
/** If an assessment asks about more skills, it has fewer questions about each, so that it has at most 30. */
const MAX_SKILLS_WITH_ALL_QUESTIONS = 6
const QUESTIONS_PER_SKILL_OF_MANY = 3

export function generationFailedProblem() {
  return problem('GENERATION_FAILED', 'The questions could not be generated. The session is unchanged. Try again.')
}

/** Finds a session's questions until the deadline (in `performance.now()` time), in the language if available. */
export async function writeItems(
  { writer, catalogue, log, db, clock }: Pick<Context, 'writer' | 'catalogue' | 'log' | 'db' | 'clock'>,
  session: Session,
  { seed, deadline, language }: { seed: string; deadline: number; language: Language },
): Promise<AssessmentItem[]> {
  const count =
    session.skills.length <= MAX_SKILLS_WITH_ALL_QUESTIONS ? QUESTIONS_PER_SKILL : QUESTIONS_PER_SKILL_OF_MANY
  const seenItems = await findSeenItems(db.queries, session)
  const context = questionContext(session.items, session.sources)
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

  /** Draws questions from the banks. If an AI writer is configured, it writes those about skills without a bank of the organisation. */
  async function collectItems(): Promise<AssessmentItem[]> {
    const { skills, scope } = session
    const itemSource = new SkillItemSource(db, writer, () => clock.now())
    const form = { count, seed, language, context, seenItems: new Set(seenItems) }
    if (writer.kind !== 'ai') {
      const itemSets = await itemSource.itemsForAll(scope.orgId, skills.map(skillToAsk), [language], abort.signal)
      return skills.flatMap((skill, index) => drawQuestions(itemSets[index]!, skill, form))
    }
    const privateSets = await Promise.all(skills.map(({ number }) => itemSource.privateItemsFor(scope.orgId, number)))
    const skillsToWrite = skills.filter((_, index) => !privateSets[index])
    const writtenItems = skillsToWrite.length > 0 ? await collectAiItems(writer, skillsToWrite) : []
    return skills.flatMap((skill, index) => {
      const privateSet = privateSets[index]
      return privateSet
        ? drawQuestions(privateSet, skill, form)
        : writtenItems.filter((item) => item.skill === skill.number)
    })
  }

  /** Requests items about the student's own work, and once more if some of them are duplicates. */
  async function collectAiItems(aiWriter: ItemWriter, skills: ChosenSkill[]): Promise<AssessmentItem[]> {
    const earlierStems = await findEarlierStems(db.queries, session)
    const questionSet = new QuestionSet(count, earlierStems)
    const firstResult = await requestItems(aiWriter, skills, count, seenItems, seed)
    questionSet.add(firstResult.items)
    const incompleteSkills = skills.filter(({ number }) => questionSet.lacks(number))
    // A writer that returned too few items has already retried.
    if (incompleteSkills.length > 0 && firstResult.incompleteSkills.length === 0) {
      const fingerprintsToAvoid = [...seenItems, ...questionSet.items.map(fingerprint)]
      const retryCount = earlierStems.size > 0 ? 2 * count : count // some of these may duplicate earlier ones too
      const { items } = await requestItems(aiWriter, incompleteSkills, retryCount, fingerprintsToAvoid, `${seed} again`)
      questionSet.add(items)
    }
    questionSet.addItemsWithEarlierStems()
    if (skills.some(({ number }) => questionSet.lacks(number))) throw new Error('too few questions passed the checks')
    return questionSet.items.map(assessmentItemOf)
  }

  function requestItems(
    aiWriter: ItemWriter,
    skills: ChosenSkill[],
    itemCount: number,
    avoid: string[],
    itemSeed: string,
  ) {
    return aiWriter.writeItems({
      skills: skills.map((skill) => ({ skill: skillToAsk(skill), count: itemCount, avoid })),
      context,
      language,
      seed: itemSeed,
      signal: abort.signal,
    })
  }

  function skillToAsk({ number, name }: ChosenSkill) {
    return { number, name, description: catalogue.current.skill(number)?.description ?? '' }
  }
}

function assessmentItemOf(item: Item): AssessmentItem {
  const { skill, stem, options, key, difficulty, language } = item
  return {
    skill,
    stem,
    options: [...options],
    key,
    itemId: fingerprint(item),
    source: 'ai',
    difficulty: PRIOR_DIFFICULTIES[difficulty],
    // Written for this student: nobody has answered it before.
    isUnpiloted: true,
    shownOptions: options.map((_, index) => (index === key ? KEY : index < key ? index : index - 1)),
    language,
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
