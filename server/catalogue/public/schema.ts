import { type TSchema, Type } from 'typebox'
import { nameAfter, named } from '../../platform/http/named-schemas.ts'
import { NOT_BLANK_PATTERN } from '../../platform/http/validation.ts'
import { hierarchyFilters } from '../schema.ts'

/** Schemas of the public API. Its lists use page numbers. */

const dateTime = Type.String({ format: 'date-time' })

const paging = {
  page: Type.Integer({ minimum: 1, default: 1 }),
  limit: Type.Integer({ minimum: 1, maximum: 50, default: 20, description: 'Maximum number of items on the page.' }),
}

const subSkillNames = { sub_skill_id: Type.String(), sub_skill_name: Type.String() }
const masterSkillNames = { master_skill_id: Type.String(), master_skill_name: Type.String() }
const skillNames = { skill_id: Type.String(), skill_name: Type.String(), ...subSkillNames, ...masterSkillNames }
const skillCount = Type.Integer({ description: 'Number of skills in this master skill or sub-skill.' })

export const PublicSkill = named('PublicSkill', Type.Object(skillNames))
export const PublicSkillDetails = named(
  'PublicSkillDetails',
  Type.Object({ ...skillNames, description: Type.String(), aliases: Type.Array(Type.String()) }),
)
export const MasterSkillRecord = named('MasterSkill', Type.Object({ ...masterSkillNames, skills: skillCount }))
export const SubSkillRecord = named(
  'SubSkill',
  Type.Object({ ...subSkillNames, ...masterSkillNames, skills: skillCount }),
)

const keywordLimits = { minLength: 3, maxLength: 100, pattern: NOT_BLANK_PATTERN }
const keyword = Type.String(keywordLimits)
const groupKeyword = Type.Optional(
  Type.String({
    ...keywordLimits,
    description: 'Words of the name, or beginnings of them. Only groups whose name has all these words are listed.',
  }),
)

export const PageQuery = Type.Object(paging)
export const MasterSkillsQuery = Type.Object({ keyword: groupKeyword, ...paging })
export const SkillsQuery = Type.Object({ ...hierarchyFilters, ...paging })
export const SubSkillsQuery = Type.Object({
  master_skill_id: hierarchyFilters.master_skill_id,
  keyword: groupKeyword,
  ...paging,
})
export const KeywordQuery = Type.Object({ keyword, ...paging })

const userId = Type.String({ maxLength: 128, pattern: NOT_BLANK_PATTERN })
const requiredText = Type.String({ pattern: NOT_BLANK_PATTERN })

/** The request body to select a skill. Additional properties are ignored. */
export const SelectionBody = named(
  'SelectedSkillInput',
  Type.Object({
    user_id: userId,
    skill_id: requiredText,
    sub_skill_id: requiredText,
    master_skill_id: requiredText,
  }),
)

const UUID_PATTERN = '^[0-9a-fA-F]{8}(-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}$'

export const SelectionParams = Type.Object({ selected_skill_id: Type.String({ pattern: UUID_PATTERN }) })
export const SelectionsQuery = Type.Object({ user_id: userId, ...paging })

const selectionFields = {
  selected_skill_id: Type.String({ format: 'uuid' }),
  user_id: Type.String(),
  skill_id: Type.String(),
  sub_skill_id: Type.String(),
  master_skill_id: Type.String(),
}
const timestamps = { createdAt: dateTime, updatedAt: dateTime }

export const SelectedSkill = named('SelectedSkill', Type.Object({ ...selectionFields, ...timestamps }))
export const NamedSelectedSkill = named(
  'NamedSelectedSkill',
  Type.Object({
    ...selectionFields,
    skill_name: Type.String(),
    sub_skill_name: Type.String(),
    master_skill_name: Type.String(),
    ...timestamps,
  }),
)

export const CatalogueTotals = named(
  'CatalogueTotals',
  Type.Object({
    master_skills: Type.Integer(),
    sub_skills: Type.Integer(),
    skills: Type.Integer(),
    selected_skills: Type.Integer(),
    users: Type.Integer({ description: 'Number of users who have selected at least one skill.' }),
    pending_skill_requests: Type.Integer(),
  }),
)

export const TopSkill = named(
  'TopSkill',
  Type.Object({ skill_id: Type.String(), skill_name: Type.String(), selections: Type.Integer() }),
)

export const RateLimitedAddress = named(
  'RateLimitedAddress',
  Type.Object({
    ip: Type.String({ description: 'An IPv4 address, or the /64 network of an IPv6 address.' }),
    limit: Type.Enum(['global', 'search', 'scraping']),
    until: Type.String({
      format: 'date-time',
      description: 'Time from which requests of the address are accepted again.',
    }),
  }),
)

export function paginatedResponse<T extends TSchema>(item: T) {
  return Type.Object(
    {
      data: Type.Array(item),
      page: Type.Integer(),
      limit: Type.Integer(),
      count: Type.Integer({ description: 'Total number of items on all pages.' }),
    },
    nameAfter(item, 'Page'),
  )
}

export function singleResponse<T extends TSchema>(data: T) {
  return Type.Object({ success: Type.Literal(true), message: Type.String(), data }, nameAfter(data, 'Response'))
}
