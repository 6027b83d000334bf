import { Type } from 'typebox'
import { NOT_BLANK } from '../platform/http/validation.ts'
import { requestStatuses } from './skill-requests.ts'

/** Shapes of the partner's calls on skills and skill requests; those of the public API are in public-schema.ts. */

const skillIdText = Type.String({ pattern: '^sk_\\d{1,9}$' })
const subSkillIdText = Type.String({ pattern: '^ss_\\d{1,9}$' })
const masterSkillIdText = Type.String({ pattern: '^ms_\\d{1,9}$' })
const score = Type.Number({ minimum: 0, maximum: 1 })

const record = {
  skill_id: skillIdText,
  name: Type.String(),
  description: Type.String(),
  aliases: Type.Array(Type.String()),
  sub_skill: Type.Object({ sub_skill_id: subSkillIdText, name: Type.String() }),
  master_skill: Type.Object({ master_skill_id: masterSkillIdText, name: Type.String() }),
  verifiable: Type.Boolean({ description: 'Whether questions can be made for it.' }),
}

export const SkillRecord = Type.Object(record)
export const FoundSkill = Type.Object({ ...record, score })

export const SkillParams = Type.Object({ skill_id: skillIdText })

export const hierarchyFilters = {
  master_skill_id: Type.Optional(masterSkillIdText),
  sub_skill_id: Type.Optional(subSkillIdText),
}

const cursor = Type.Optional(Type.String({ maxLength: 2000, description: 'The `next_cursor` of the page before.' }))
const listLimit = (maximum: number) => Type.Integer({ minimum: 1, maximum, default: 25 })

export const BrowseQuery = Type.Object({ ...hierarchyFilters, limit: listLimit(100), cursor })

export const SearchQuery = Type.Object({
  q: Type.String({ minLength: 3, maxLength: 100, pattern: NOT_BLANK }),
  limit: listLimit(50),
  cursor,
})

export const LookupBody = Type.Object(
  {
    skill_ids: Type.Optional(Type.Array(skillIdText, { minItems: 1, maxItems: 100 })),
    names: Type.Optional(
      Type.Array(Type.String({ pattern: NOT_BLANK }), {
        minItems: 1,
        maxItems: 100,
        description: "The skills' own names; neither case nor spacing counts.",
      }),
    ),
  },
  { additionalProperties: false },
)

export const LookupData = Type.Object({
  found: Type.Array(SkillRecord),
  missing: Type.Array(Type.String(), { description: 'What was asked for and is not there, as it was asked.' }),
})

export const MatchBody = Type.Object(
  {
    phrases: Type.Array(Type.String({ minLength: 2, maxLength: 200, pattern: NOT_BLANK }), {
      minItems: 1,
      maxItems: 50,
    }),
    limit: Type.Optional(Type.Integer({ minimum: 1, maximum: 10, default: 3 })),
  },
  { additionalProperties: false },
)

export const MatchData = Type.Object({
  matches: Type.Array(
    Type.Object({
      phrase: Type.String(),
      candidates: Type.Array(
        Type.Object({
          skill_id: skillIdText,
          name: Type.String(),
          score,
          method: Type.Enum(['exact', 'alias', 'fuzzy', 'semantic']),
        }),
      ),
    }),
  ),
})

export const ExtractBody = Type.Object(
  {
    text: Type.String({ maxLength: 50_000, pattern: NOT_BLANK }),
    limit: Type.Optional(Type.Integer({ minimum: 1, maximum: 100, default: 25 })),
  },
  { additionalProperties: false },
)

export const ExtractData = Type.Object({
  skills: Type.Array(
    Type.Object({
      skill_id: skillIdText,
      name: Type.String(),
      score,
      mentions: Type.Array(
        Type.Object(
          { start: Type.Integer(), end: Type.Integer(), text: Type.String() },
          { description: 'Offsets count UTF-16 code units of the text as sent; `end` is exclusive.' },
        ),
      ),
    }),
  ),
})

export const SkillRequestBody = Type.Object(
  {
    name: Type.String({ minLength: 2, maxLength: 120, pattern: NOT_BLANK }),
    context: Type.Optional(
      Type.String({ maxLength: 500, description: 'What the skill is and where it is needed; read by the operator.' }),
    ),
  },
  { additionalProperties: false },
)

export const SkillRequestRecord = Type.Object({
  request_id: Type.String(),
  name: Type.String(),
  status: Type.Enum([...requestStatuses]),
  skill_id: Type.Union([skillIdText, Type.Null()]),
  created_at: Type.String({ format: 'date-time' }),
})

export const SkillRequestParams = Type.Object({ request_id: Type.String({ pattern: '^SR_[A-Z0-9]{10,40}$' }) })

export const SkillRequestsQuery = Type.Object({
  status: Type.Optional(Type.Enum([...requestStatuses])),
  limit: listLimit(100),
  cursor,
})
