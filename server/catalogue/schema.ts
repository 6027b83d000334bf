import { Type } from 'typebox'
import { named } from '../platform/http/named-schemas.ts'
import { pageQuery } from '../platform/http/response-schemas.ts'
import { NOT_BLANK_PATTERN } from '../platform/http/validation.ts'
import { requestStatuses } from './skill-requests.ts'

/** Schemas of the partner API's skill routes. The schemas of the public API are in public/schema.ts. */

export const SKILL_ID_PATTERN = '^sk_\\d{1,9}$'
const skillIdText = Type.String({ pattern: SKILL_ID_PATTERN })
const subSkillIdText = Type.String({ pattern: '^ss_\\d{1,9}$' })
const masterSkillIdText = Type.String({ pattern: '^ms_\\d{1,9}$' })
const score = Type.Number({ minimum: 0, maximum: 1 })

export const MasterSkillName = named(
  'MasterSkillName',
  Type.Object({ master_skill_id: masterSkillIdText, name: Type.String() }),
)

/** The place of a skill in the hierarchy. */
export const skillPlace = {
  sub_skill: named('SubSkillName', Type.Object({ sub_skill_id: subSkillIdText, name: Type.String() })),
  master_skill: MasterSkillName,
}

const mergedSkillIds = Type.Optional(
  Type.Array(skillIdText, {
    description:
      'IDs of skills that were merged into this one. They stay valid and mean this skill. Absent if there are none.',
  }),
)

const skillFields = {
  skill_id: skillIdText,
  name: Type.String(),
  description: Type.String(),
  aliases: Type.Array(Type.String()),
  ...skillPlace,
  verifiable: Type.Boolean({
    description:
      'True if the skill can be measured: the built-in bank or the bank of your organisation has at least 12 active questions about it, or an AI writer is configured. The operator can switch the built-in bank and the AI writer off for a skill.',
  }),
  merged_skill_ids: mergedSkillIds,
  withdrawn: Type.Optional(
    Type.Boolean({
      description:
        'True if the operator undid the import that had added the skill. Searches and lists do not return it, but its ID stays valid. Absent for other skills.',
    }),
  ),
}

export const SkillRecord = named('Skill', Type.Object(skillFields))
export const SkillSearchResult = named('SkillSearchResult', Type.Object({ ...skillFields, score }))

export const SkillParams = Type.Object({ skill_id: skillIdText })

export const hierarchyFilters = {
  master_skill_id: Type.Optional(masterSkillIdText),
  sub_skill_id: Type.Optional(subSkillIdText),
}

export const BrowseQuery = Type.Object({ ...hierarchyFilters, ...pageQuery })

export const SearchQuery = Type.Object({
  q: Type.String({ minLength: 3, maxLength: 100, pattern: NOT_BLANK_PATTERN }),
  verifiable: Type.Optional(
    Type.Boolean({ description: 'Only skills that can be measured (true), or only those that cannot (false).' }),
  ),
  limit: Type.Integer({ minimum: 1, maximum: 50, default: 25, description: 'Maximum number of items on the page.' }),
  cursor: pageQuery.cursor,
})

export const LookupBody = named(
  'SkillLookupInput',
  Type.Object(
    {
      skill_ids: Type.Optional(Type.Array(skillIdText, { minItems: 1, maxItems: 100 })),
      names: Type.Optional(
        Type.Array(Type.String({ pattern: NOT_BLANK_PATTERN }), {
          minItems: 1,
          maxItems: 100,
          description: 'Skill names, without aliases. Case and white space are ignored.',
        }),
      ),
    },
    { additionalProperties: false },
  ),
)

export const LookupData = named(
  'SkillLookup',
  Type.Object({
    found: Type.Array(SkillRecord),
    missing: Type.Array(Type.String(), { description: 'Requested IDs or names that are not in the catalogue.' }),
  }),
)

export const MatchBody = named(
  'SkillMatchInput',
  Type.Object(
    {
      phrases: Type.Array(Type.String({ minLength: 2, maxLength: 200, pattern: NOT_BLANK_PATTERN }), {
        minItems: 1,
        maxItems: 50,
      }),
      limit: Type.Optional(
        Type.Integer({ minimum: 1, maximum: 10, default: 3, description: 'Maximum number of skills per phrase.' }),
      ),
    },
    { additionalProperties: false },
  ),
)

const SkillMatch = named(
  'SkillMatch',
  Type.Object({
    skill_id: skillIdText,
    name: Type.String(),
    score,
    method: Type.Enum(['exact', 'alias', 'fuzzy', 'semantic']),
  }),
)

export const MatchData = named(
  'SkillMatches',
  Type.Object({ matches: Type.Array(Type.Object({ phrase: Type.String(), candidates: Type.Array(SkillMatch) })) }),
)

export const ExtractBody = named(
  'SkillExtractionInput',
  Type.Object(
    {
      text: Type.String({ maxLength: 50_000, pattern: NOT_BLANK_PATTERN }),
      limit: Type.Optional(
        Type.Integer({
          minimum: 1,
          maximum: 100,
          default: 25,
          description: 'Maximum number of skills in the response.',
        }),
      ),
    },
    { additionalProperties: false },
  ),
)

const SkillMention = named(
  'SkillMention',
  Type.Object(
    { start: Type.Integer(), end: Type.Integer(), text: Type.String() },
    { description: 'Offsets are in UTF-16 code units of the text as sent. `end` is exclusive.' },
  ),
)

const MentionedSkill = named(
  'MentionedSkill',
  Type.Object({
    skill_id: skillIdText,
    name: Type.String(),
    score,
    requirement: Type.Enum(['required', 'preferred', 'not_required'], {
      description: 'Importance of the skill according to the text: required, preferred ("is a plus"), or not required.',
    }),
    mentions: Type.Array(SkillMention),
  }),
)

export const ExtractData = named('SkillExtraction', Type.Object({ skills: Type.Array(MentionedSkill) }))

export const SkillRequestBody = named(
  'SkillRequestInput',
  Type.Object(
    {
      name: Type.String({ minLength: 2, maxLength: 120, pattern: NOT_BLANK_PATTERN }),
      context: Type.Optional(
        Type.String({
          maxLength: 500,
          description: 'A description of the skill and its use, for the operator who decides on the request.',
        }),
      ),
    },
    { additionalProperties: false },
  ),
)

const SkillRequestStatus = named('SkillRequestStatus', Type.Enum([...requestStatuses]))

export const skillRequestFields = {
  request_id: Type.String(),
  name: Type.String(),
  status: SkillRequestStatus,
  skill_id: Type.Union([skillIdText, Type.Null()]),
  rejection_reason: Type.Optional(
    Type.String({ description: 'Reason of the operator for rejecting the request. Absent if no reason was given.' }),
  ),
  created_at: Type.String({ format: 'date-time' }),
}

export const SkillRequestRecord = named('SkillRequest', Type.Object(skillRequestFields))

export const SkillRequestParams = Type.Object({ request_id: Type.String({ pattern: '^SR_[A-Z0-9]{10,40}$' }) })

export const SkillRequestsQuery = Type.Object({ status: Type.Optional(SkillRequestStatus), ...pageQuery })
