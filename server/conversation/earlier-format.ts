import { KEY } from '../measurement/form.ts'
import { type AuthorDifficulty, PRIOR_DIFFICULTIES } from '../measurement/model.ts'
import type { Language } from '../platform/text/languages.ts'
import type { SkillItem } from '../questions/skill-items.ts'
import type { ConversationFlow, FlowSkill } from './flow.ts'
import type { ConversationState } from './state.ts'

/**
 * Reads flows and conversations that were stored before items were drawn for each candidate. All candidates of such a mandate are
 * asked the same items, and conversations that had begun continue with them.
 */

export interface EarlierFlowSkill {
  skill_id: string
  name: string
  items: {
    item_id: string
    key: number
    difficulty: AuthorDifficulty
    text: Partial<Record<Language, { stem: string; options: string[] }>>
  }[]
}

export function fromEarlierFlowSkill({ skill_id, name, items }: EarlierFlowSkill, languages: Language[]): FlowSkill {
  const ids = items.map(({ item_id }, index) => `${item_id}/${index}`)
  return {
    skill_id,
    name,
    source: 'bank',
    // A language without a text is replaced by another one, without asking the candidate.
    languages,
    items: items.map(
      ({ key, difficulty, text }, index): SkillItem => ({
        id: ids[index]!,
        pool: ids[index]!,
        kind: '',
        difficulty: PRIOR_DIFFICULTIES[difficulty],
        texts: Object.fromEntries(
          Object.entries(text).map(([language, { stem, options }]) => [
            language,
            { stem, options: [options[key]!, ...options.filter((_, option) => option !== key)] },
          ]),
        ),
      }),
    ),
    fixedForm: items.map(({ key, text }, index) => ({
      id: ids[index]!,
      options: Object.values(text)[0]!.options.map((_, option) =>
        option === key ? KEY : option < key ? option : option - 1,
      ),
    })),
  }
}

/** A stored conversation, in which the skills may be lists of chosen options. */
export type StoredState = Omit<ConversationState, 'skills' | 'seed'> & {
  seed?: string
  skills: ConversationState['skills'] | number[][]
}

/** Returns a stored conversation in the current format. May modify `stored`. */
export function fromStoredState(stored: StoredState, flow: ConversationFlow): ConversationState {
  stored.seed ??= ''
  const isEarlier = flow.skills.some(({ fixedForm }) => fixedForm)
  if (!isEarlier) return stored as ConversationState
  const { skills, ...state } = stored as ConversationState & StoredState
  const hasStarted = !['consent', 'language'].includes(state.point.at)
  return {
    ...state,
    skills: flow.skills
      .map(({ fixedForm = [] }, skill) =>
        fixedForm.map((item, index) => {
          const storedAnswer = skills[skill]?.[index]
          if (typeof storedAnswer === 'number') return { ...item, choice: storedAnswer }
          return storedAnswer ?? { ...item }
        }),
      )
      .slice(0, hasStarted ? undefined : 0),
  }
}
