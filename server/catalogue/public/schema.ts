import { type TSchema, Type } from 'typebox'
import { NOT_BLANK } from '../../platform/http/validation.ts'
import { hierarchyFilters } from '../schema.ts'

/** Shapes of the public API. Its lists go by page number. */

const time = Type.String({ format: 'date-time' })

const paging = {
  page: Type.Integer({ minimum: 1, default: 1 }),
  limit: Type.Integer({ minimum: 1, maximum: 50, default: 20 }),
}

const subSkillNames = { sub_skill_id: Type.String(), sub_skill_name: Type.String() }
const masterSkillNames = { master_skill_id: Type.String(), master_skill_name: Type.String() }
const names = { skill_id: Type.String(), skill_name: Type.String(), ...subSkillNames, ...masterSkillNames }
const skills = Type.Integer({ description: 'How many skills it holds.' })

export const PublicSkill = Type.Object(names)
export const WholePublicSkill = Type.Object({
  ...names,
  description: Type.String(),
  aliases: Type.Array(Type.String()),
})
export const Master = Type.Object({ ...masterSkillNames, skills })
export const SubSkill = Type.Object({ ...subSkillNames, ...masterSkillNames, skills })

export const PageQuery = Type.Object(paging)
export const SkillsQuery = Type.Object({ ...hierarchyFilters, ...paging })
export const SubSkillsQuery = Type.Object({ master_skill_id: hierarchyFilters.master_skill_id, ...paging })
export const KeywordQuery = Type.Object({
  keyword: Type.String({ minLength: 3, maxLength: 100, pattern: NOT_BLANK }),
  ...paging,
})

const userId = Type.String({ maxLength: 128, pattern: NOT_BLANK })
const requiredText = Type.String({ pattern: NOT_BLANK })

/** Properties beside these are ignored. */
export const SelectionBody = Type.Object({
  user_id: userId,
  skill_id: requiredText,
  sub_skill_id: requiredText,
  master_skill_id: requiredText,
})

const UUID = '^[0-9a-fA-F]{8}(-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}$'

export const SelectionParams = Type.Object({ selected_skill_id: Type.String({ pattern: UUID }) })
export const SelectionsQuery = Type.Object({ user_id: userId, ...paging })

const selection = {
  selected_skill_id: Type.String({ format: 'uuid' }),
  user_id: Type.String(),
  skill_id: Type.String(),
  sub_skill_id: Type.String(),
  master_skill_id: Type.String(),
}
const times = { createdAt: time, updatedAt: time }

export const SelectedSkill = Type.Object({ ...selection, ...times })
export const NamedSelectedSkill = Type.Object({
  ...selection,
  skill_name: Type.String(),
  sub_skill_name: Type.String(),
  master_skill_name: Type.String(),
  ...times,
})

export const Counts = Type.Object({
  master_skills: Type.Integer(),
  sub_skills: Type.Integer(),
  skills: Type.Integer(),
  selected_skills: Type.Integer(),
  users: Type.Integer({ description: 'Users who have selected a skill.' }),
  pending_skill_requests: Type.Integer(),
})

export const TopSkill = Type.Object({ skill_id: Type.String(), skill_name: Type.String(), selections: Type.Integer() })

export const LimitedVisitor = Type.Object({
  ip: Type.String({ description: 'An address, or the /64 network of an IPv6 address.' }),
  limit: Type.Enum(['global', 'search', 'scraping']),
  until: time,
})

export function pageOf<T extends TSchema>(item: T) {
  return Type.Object({
    data: Type.Array(item),
    page: Type.Integer(),
    limit: Type.Integer(),
    count: Type.Integer({ description: 'All matches, on whatever page.' }),
  })
}

export function single<T extends TSchema>(data: T) {
  return Type.Object({ success: Type.Literal(true), message: Type.String(), data })
}
