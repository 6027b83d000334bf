import { type TSchema, Type } from 'typebox'
import { retirementReasons } from '../../items/item-status.ts'
import { ITEM_QUALITIES } from '../../items/item-store.ts'
import { named } from '../../platform/http/named-schemas.ts'
import { ITEM_SOURCES } from '../../questions/skill-items.ts'
import { Language } from '../../workflows/schema.ts'

/** Schemas of the responses of the routes for question statistics. */

const text = Type.String()
const count = Type.Integer()
const number = Type.Number()
const orNull = <T extends TSchema>(schema: T) => Type.Union([schema, Type.Null()])
const SourceSchema = Type.Enum([...ITEM_SOURCES])

const skillFields = {
  skill_id: text,
  name: text,
  sources: Type.Array(
    Type.Object({
      source: SourceSchema,
      active: count,
      pilot: count,
      retired: count,
      responses: count,
      enough: Type.Boolean({ description: 'Whether the active questions are enough to verify the skill.' }),
    }),
  ),
}
export const QuestionSkill = named('QuestionSkill', Type.Object(skillFields))

const itemFields = {
  item_id: text,
  source: SourceSchema,
  kind: text,
  stem: orNull(text),
  status: Type.Enum(['pilot', 'active', 'retired']),
  retired_at: orNull(text),
  retirement_reason: orNull(Type.Enum([...retirementReasons])),
  difficulty: number,
  responses: count,
  correct_share: orNull(number),
  discrimination: orNull(number),
  median_seconds: orNull(number),
}
const QuestionItem = named('QuestionItem', Type.Object(itemFields))

export const QuestionsOfSkill = named(
  'QuestionsOfSkill',
  Type.Object({ ...skillFields, items: Type.Array(QuestionItem) }),
)

const QuestionStatistics = named(
  'QuestionStatistics',
  Type.Object({
    responses: count,
    correct_share: number,
    discrimination: number,
    author_difficulty: number,
    estimated_difficulty: number,
    median_seconds: orNull(number),
    options: Type.Array(
      Type.Object({
        option: Type.Union([Type.Integer(), Type.Null()], {
          description: '-1 is the key, other numbers are distractors, null is no answer.',
        }),
        responses: count,
        mean_ability: number,
      }),
    ),
    ability_groups: Type.Array(Type.Object({ responses: count, mean_ability: number, correct_share: number })),
    trend: Type.Array(Type.Object({ first_day: text, last_day: text, responses: count, correct_share: number })),
    languages: Type.Array(
      Type.Object({
        language: text,
        responses: count,
        correct_share: number,
        difference: orNull(number),
        standard_error: orNull(number),
      }),
    ),
  }),
)

export const QuestionDetails = named(
  'QuestionDetails',
  Type.Object({
    ...itemFields,
    skill_id: text,
    skill_name: text,
    is_calculation: Type.Boolean(),
    texts: orNull(Type.Array(Type.Object({ language: text, stem: text, options: Type.Array(text) }))),
    author_difficulty: Type.Integer({ description: 'The difficulty that the author stated, from 1 (easy) to 3.' }),
    statistics: orNull(QuestionStatistics),
    expected: Type.Array(Type.Object({ ability: number, correct_share: number })),
    may_change: Type.Boolean({ description: 'Whether the caller may retire and restore the question.' }),
    may_edit: Type.Boolean({ description: 'Whether the caller may change the text of the question.' }),
  }),
)

export const StoredQuestion = named(
  'StoredQuestion',
  Type.Object({
    item_id: Type.String({ description: 'The ID of the question. A question whose text has changed has a new one.' }),
    warnings: Type.Array(Type.Object({ path: text, message: text })),
  }),
)

export const TranslationService = named(
  'TranslationService',
  Type.Object({ available: Type.Boolean({ description: 'Whether an AI writer can suggest translations.' }) }),
)

export const SuggestedTranslations = named(
  'SuggestedTranslations',
  Type.Object({
    translations: Type.Array(
      Type.Object({ language: Language, texts: Type.Array(text, { description: 'In the order of the request.' }) }),
    ),
    missing: Type.Array(Language, { description: 'Languages for which the AI writer returned no usable translation.' }),
  }),
)

const MandateQuestion = named(
  'MandateQuestion',
  Type.Object({
    item_id: text,
    kind: text,
    stem: Type.Union([text, Type.Null()], { description: 'Null if the caller may not see the text.' }),
    languages: Type.Array(Language),
    status: Type.Enum(['pilot', 'active', 'retired']),
    quality: Type.Enum([...ITEM_QUALITIES]),
    difficulty: number,
    responses: count,
    correct_share: orNull(number),
    discrimination: orNull(number),
    excluded: Type.Boolean({ description: 'Whether the question is excluded from this mandate.' }),
  }),
)

export const MandateQuestions = named(
  'MandateQuestions',
  Type.Object({
    mandate_id: text,
    may_change: Type.Boolean({ description: 'Whether the caller may exclude questions.' }),
    skills: Type.Array(
      Type.Object({
        skill_id: text,
        name: text,
        source: SourceSchema,
        languages: Type.Array(Language, { description: 'Languages in which candidates are asked about the skill.' }),
        min_questions: Type.Integer({ description: 'Number of questions that must remain in each language.' }),
        items: Type.Array(MandateQuestion),
      }),
    ),
  }),
)
