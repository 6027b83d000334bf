import { Type } from 'typebox'
import { named } from '../platform/http/named-schemas.ts'
import { MAX_NAME_LENGTH } from './names.ts'
import { hierarchyFilters, SKILL_ID_PATTERN, skillPlace } from './schema.ts'
import { browsableSources, questionFilters, verifiableReasons } from './skill-browser.ts'

/** Schemas of the routes with which operators browse and change the catalogue: those of the console, and those of the admin key. */

const text = Type.String()

export const SkillFilters = {
  ...hierarchyFilters,
  verifiable: Type.Optional(Type.Boolean({ description: 'Only skills that can, or cannot, be verified.' })),
  questions: Type.Optional(
    Type.Enum([...questionFilters], {
      description:
        'Only skills with questions in the built-in bank (`built_in`), with questions of organisations (`own`), or without both (`none`).',
    }),
  ),
  source: Type.Optional(
    Type.Enum([...browsableSources], {
      description: 'Only skills of this source. `operator`: only skills that an operator has changed.',
    }),
  ),
}

const skillName = { skill_id: text, name: text }

const questionFields = {
  built_in_questions: Type.Boolean({ description: 'True if the built-in bank has questions about the skill.' }),
  own_questions: Type.Integer({ description: 'Number of questions of all organisations about the skill.' }),
}

export const ListedSkill = named(
  'ListedSkill',
  Type.Object({
    skill_id: text,
    name: text,
    aliases: Type.Array(text),
    ...skillPlace,
    verifiable: Type.Boolean(),
    ...questionFields,
    sources: Type.Array(text, { description: 'The taxonomies that contain the skill.' }),
  }),
)

export const SkillUseRecord = named(
  'SkillUse',
  Type.Object({
    mandates: Type.Integer({ description: 'Number of mandates that are not archived.' }),
    sessions: Type.Integer({ description: 'Number of verification sessions.' }),
    selected_skills: Type.Integer({ description: 'Number of selections in the public catalogue.' }),
  }),
)

export const EditableSkill = named(
  'EditableSkill',
  Type.Object({
    skill_id: text,
    name: text,
    description: text,
    aliases: Type.Array(text),
    added_aliases: Type.Array(text, { description: 'Aliases that operators added.' }),
    removed_aliases: Type.Array(text, {
      description: 'Aliases that operators removed. Imports do not add them again.',
    }),
    is_renamed: Type.Boolean({ description: 'True if an operator chose the name. Imports do not change it then.' }),
    ...skillPlace,
    withdrawn: Type.Boolean({
      description: 'True if the import that had added the skill was undone. The skill is found by its ID only.',
    }),
    verifiable: Type.Boolean(),
    verifiable_reason: Type.Enum([...verifiableReasons], {
      description: 'Reason for the value of `verifiable`.',
    }),
    verification: Type.Boolean({
      description:
        'False if an operator switched off the verification with the built-in questions and the AI writer. Organisations with enough questions of their own can still verify the skill.',
    }),
    often_required: Type.Boolean({ description: 'True if the skill ranks higher in searches.' }),
    ...questionFields,
    organisations_with_questions: Type.Integer({
      description: 'Number of organisations that can verify the skill with their own questions.',
    }),
    sources: Type.Array(
      Type.Object({
        source: text,
        source_id: Type.String({ description: 'The ID of the skill in the source.' }),
        name: text,
        owner: Type.Boolean({ description: 'True if the source determines the description and the sub-skill.' }),
      }),
    ),
    merged_into: Type.Union(
      [Type.Object({ ...skillName, merged_at: Type.String({ format: 'date-time' }) }), Type.Null()],
      {
        description: 'The skill into which this skill was merged, or null. Its ID stays valid and means that skill.',
      },
    ),
    merged_skills: Type.Array(
      Type.Object({
        ...skillName,
        aliases: Type.Array(text, { description: 'Names that mean this skill because of the merge.' }),
        into: Type.Object(skillName, { description: 'The skill that was chosen for the merge.' }),
        merged_at: Type.String({ format: 'date-time' }),
      }),
      { description: 'Skills that were merged into this one, directly or through others.' },
    ),
    revision: Type.Integer({ description: 'Number of the version. Send it with a change of the skill.' }),
    updated_at: Type.String({ format: 'date-time' }),
  }),
)

const revision = Type.Integer({
  minimum: 1,
  description:
    'The `revision` of the skill that you saw. If the skill has changed since then, the request fails with 409.',
})
const aliasList = (description: string) =>
  Type.Optional(Type.Array(Type.String({ minLength: 1, maxLength: MAX_NAME_LENGTH }), { maxItems: 50, description }))

export const SkillChangeBody = named(
  'SkillChange',
  Type.Object(
    {
      revision,
      name: Type.Optional(
        Type.String({
          minLength: 1,
          maxLength: MAX_NAME_LENGTH,
          description: 'The new name. The old name stays as an alias.',
        }),
      ),
      add_aliases: aliasList('Aliases to add.'),
      remove_aliases: aliasList('Aliases to remove.'),
      often_required: Type.Optional(
        Type.Boolean({
          description: 'True if the skill ranks higher in searches, because employers often require it.',
        }),
      ),
      verification: Type.Optional(
        Type.Boolean({
          description:
            'False switches off the verification with the built-in questions and the AI writer; true allows it. A skill without enough questions is not verifiable even with true.',
        }),
      ),
    },
    { additionalProperties: false },
  ),
)

const survivorId = Type.String({ pattern: SKILL_ID_PATTERN, description: 'ID of the skill that survives.' })

export const MergeQuery = Type.Object({ into: survivorId })

export const SkillMergeBody = named('SkillMerge', Type.Object({ into: survivorId }, { additionalProperties: false }))

export const MergeEffectsRecord = named(
  'SkillMergeEffects',
  Type.Object({
    skill: Type.Object(skillName),
    into: Type.Object(skillName),
    new_aliases: Type.Array(text, { description: 'Names that become aliases of the surviving skill.' }),
    earlier_merged_skill_ids: Type.Array(text, {
      description: 'Skills that were merged into the skill earlier. Their IDs mean the surviving skill, too.',
    }),
    mandates: Type.Integer({
      description: 'Number of mandates with the skill that are not archived. They keep its ID.',
    }),
    sessions: Type.Integer({ description: 'Number of verification sessions with the skill. They keep its ID.' }),
    selected_skills: Type.Integer({ description: 'Number of selections in the public catalogue. They keep its ID.' }),
    own_questions: Type.Integer({
      description:
        'Number of questions of organisations about the skill. They become questions about the surviving skill.',
    }),
    built_in_questions: Type.Boolean({
      description:
        'True if the built-in bank has questions about the skill. They become questions about the surviving skill.',
    }),
  }),
)
