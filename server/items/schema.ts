import { type Static, Type } from 'typebox'
import { named, withNotes } from '../platform/http/named-schemas.ts'
import { pageQuery } from '../platform/http/response-schemas.ts'
import { NOT_BLANK_PATTERN } from '../platform/http/validation.ts'
import { LANGUAGES } from '../platform/text/languages.ts'

const ITEM_ID_PATTERN = '^IT_[A-Z0-9]{10,40}$'
const SKILL_ID_PATTERN = '^sk_[1-9][0-9]{0,8}$'

const orNull = <T extends Parameters<typeof Type.Union>[0][number]>(schema: T, description: string) =>
  Type.Union([schema, Type.Null()], { description })

export const ItemImportBody = named(
  'ItemImportInput',
  Type.Object(
    {
      file_name: Type.Optional(
        Type.String({
          minLength: 1,
          maxLength: 200,
          pattern: NOT_BLANK_PATTERN,
          description: 'The name of the file in error messages.',
          examples: ['items.csv'],
        }),
      ),
      content: Type.Optional(
        Type.String({ minLength: 1, description: 'The text of a CSV file, or of a QTI 3.0 item as XML.' }),
      ),
      content_base64: Type.Optional(
        Type.String({ minLength: 1, description: 'A QTI 3.0 content package (ZIP), or any other file, in base64.' }),
      ),
      skill_id: Type.Optional(
        Type.String({ pattern: SKILL_ID_PATTERN, description: 'The skill of items that name none.' }),
      ),
      dry_run: Type.Optional(
        Type.Boolean({ description: 'True returns the changes of the import without storing them.' }),
      ),
    },
    { additionalProperties: false },
  ),
)
export type ItemImportBody = Static<typeof ItemImportBody>

const count = (description: string) => Type.Integer({ description })

const skillCounts = {
  skill_id: Type.String({ examples: ['sk_1001'] }),
  name: Type.String({ examples: ['Bricklaying'] }),
  active: count('Number of items that are asked and scored.'),
  pilot: count('Number of items that are asked without being scored, until their statistics are known.'),
}
const measurable = Type.Boolean({
  description:
    'True if there are enough active items of the organisation. New mandates then use them instead of other questions.',
})

export const ItemImport = named(
  'ItemImport',
  Type.Object({
    dry_run: Type.Boolean(),
    items: count('Number of items in the file.'),
    added: count('Number of new items.'),
    replaced: count('Number of items whose text changed. They have a new `item_id` and no statistics yet.'),
    updated: count('Number of items whose skill, kind, difficulty, ID or languages changed, but not the text.'),
    unchanged: count('Number of items that are the same as before.'),
    pilot: count('Number of added and replaced items that start as pilot items.'),
    skills: Type.Array(Type.Object({ ...skillCounts, measurable }), {
      description: 'The skills of the items, with their numbers of items after the import.',
    }),
    warnings: Type.Array(named('ItemImportWarning', Type.Object({ path: Type.String(), message: Type.String() })), {
      description: 'Signs of weak items, with their position in the file. The items are imported nevertheless.',
    }),
  }),
)

const ItemStatusSchema = named('ItemStatus', Type.Enum(['pilot', 'active', 'retired']))

export const ItemRecord = named(
  'Item',
  Type.Object({
    item_id: Type.String({ pattern: ITEM_ID_PATTERN }),
    external_id: orNull(Type.String(), 'The ID in the imported file.'),
    skill_id: skillCounts.skill_id,
    skill_name: Type.String(),
    source: Type.Enum(['private', 'ai'], { description: '`private`: imported. `ai`: written by the AI writer.' }),
    kind: Type.String({ description: 'The kind of knowledge, such as `fault` or `tool`; `unspecified` without one.' }),
    languages: Type.Array(Type.Enum([...LANGUAGES])),
    status: ItemStatusSchema,
    retirement_reason: orNull(Type.String(), 'Reason for which the item is retired.'),
    difficulty: Type.Number({ description: 'Difficulty in logits; 0 is medium.' }),
    responses: count('Number of LIVE responses that the statistics are based on.'),
    proportion_correct: orNull(Type.Number(), 'Share of correct responses.'),
    discrimination: orNull(
      Type.Number(),
      'Correlation of a correct response with the ability that the other responses of the person show.',
    ),
    median_seconds: orNull(Type.Number(), 'Median time to answer.'),
    created_at: Type.String({ format: 'date-time' }),
    updated_at: Type.String({ format: 'date-time' }),
  }),
)

export const ItemSkillList = named(
  'ItemSkillList',
  Type.Object({
    items: Type.Array(
      named(
        'ItemSkill',
        Type.Object({ ...skillCounts, retired: count('Number of items that are not asked any more.'), measurable }),
      ),
    ),
  }),
)

export const ItemParams = Type.Object({ item_id: Type.String({ pattern: ITEM_ID_PATTERN }) })

export const ItemsQuery = Type.Object({
  ...pageQuery,
  skill_id: Type.Optional(Type.String({ pattern: SKILL_ID_PATTERN })),
  status: Type.Optional(withNotes(ItemStatusSchema, { description: 'Only items with this status.' })),
})
