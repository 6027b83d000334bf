import { sql } from 'kysely'
import type { OrgScope } from '../access/caller.ts'
import { problem } from '../api/problem.ts'
import { skillNumber } from '../catalogue/ids.ts'
import { type EarlierFlowSkill, fromEarlierFlowSkill } from '../conversation/earlier-format.ts'
import type { ConversationFlow, FlowSkill } from '../conversation/flow.ts'
import { loadItemSet } from '../items/item-sets.ts'
import { findRetiredItems } from '../items/item-store.ts'
import { MAX_ITEMS, MIN_ITEMS } from '../measurement/sequential-test.ts'
import type { Queries } from '../platform/database/database.ts'
import type { Language } from '../platform/text/languages.ts'
import type { ItemSource } from '../questions/skill-items.ts'

/** All questions of a mandate, in the order in which candidates get them. */
export type Flow = ConversationFlow

/** A flow as it is stored: the items are in a set that mandates share. */
export interface StoredFlow extends Omit<Flow, 'skills'> {
  skills: (StoredFlowSkill | EarlierFlowSkill)[]
}

export interface StoredFlowSkill {
  skill_id: string
  name: string
  source: ItemSource
  set_id: string
  item_count: number
  languages: Language[]
  /** Some of the items as a candidate may see them, for partners. Empty for items of a private bank. */
  examples: ExampleItem[]
}

export interface ExampleItem {
  difficulty: number
  text: Partial<Record<Language, { stem: string; options: string[] }>>
}

/** Returns the flow of this version; earlier versions stay available to candidates who started with them. */
export async function getFlow(
  tx: Queries,
  { orgId, mode }: OrgScope,
  mandateId: string,
  flowVersion: number,
): Promise<Flow> {
  const row = await tx
    .selectFrom('mandate_flows')
    .innerJoin('mandates', 'mandates.mandate_id', 'mandate_flows.mandate_id')
    .select('flow')
    .select(
      sql<string[]>`array(select item_id from excluded_questions e where e.mandate_id = mandate_flows.mandate_id)`.as(
        'excluded',
      ),
    )
    .where('mandates.org_id', '=', orgId)
    .where('mandates.mode', '=', mode)
    .where('mandate_flows.mandate_id', '=', mandateId)
    .where('mandate_flows.flow_version', '=', flowVersion)
    .executeTakeFirst()
  if (!row)
    throw problem('NOT_FOUND', `Mandate ${mandateId} has no prepared questions for flow version ${flowVersion}.`)
  const stored = JSON.parse(row.flow) as StoredFlow
  const skills: FlowSkill[] = []
  for (const skill of stored.skills) skills.push(await loadFlowSkill(tx, orgId, skill, stored.languages))
  return { ...stored, skills: await markRetiredItems(tx, skills, row.excluded) }
}

async function loadFlowSkill(
  tx: Queries,
  orgId: string,
  skill: StoredFlowSkill | EarlierFlowSkill,
  flowLanguages: Language[],
): Promise<FlowSkill> {
  if (!('set_id' in skill)) return fromEarlierFlowSkill(skill, flowLanguages)
  const { skill_id, name, source, set_id, languages } = skill
  return { skill_id, name, source, languages, items: await loadItemSet(tx, { orgId, setId: set_id, source }) }
}

/** Marks the items that were retired, or excluded from the mandate, after it was prepared, so that they are not drawn any more. */
async function markRetiredItems(
  tx: Queries,
  skills: FlowSkill[],
  excludedItems: readonly string[],
): Promise<FlowSkill[]> {
  if (skills.length === 0) return skills
  const retiredItems = await findRetiredItems(
    tx,
    skills.map(({ skill_id }) => skillNumber(skill_id)!),
  )
  for (const id of excludedItems) retiredItems.add(id)
  if (retiredItems.size === 0) return skills
  return skills.map((skill) => ({
    ...skill,
    items: skill.items.map((item) => (retiredItems.has(item.id) ? { ...item, isRetired: true } : item)),
  }))
}

/** Returns the questions of a flow for partners, without the correct answers. */
export function questionsOf({ enrichment, skills, interest }: StoredFlow) {
  return {
    enrichment: enrichment.map(({ key, type, required, text }) => ({ key, type, required, text })),
    skills: skills.map((skill) => ({
      skill_id: skill.skill_id,
      name: skill.name,
      ...('set_id' in skill
        ? {
            item_source: skill.source,
            item_count: skill.item_count,
            items_per_candidate: { min: MIN_ITEMS, max: MAX_ITEMS },
            items: skill.examples.map(exampleRecord),
          }
        : { items: skill.items.map(exampleRecord) }),
    })),
    interest,
  }
}

function exampleRecord({ difficulty, text }: ExampleItem) {
  const wordings = Object.entries(text)
  return {
    difficulty,
    stem: Object.fromEntries(wordings.map(([language, { stem }]) => [language, stem])),
    options: Object.fromEntries(wordings.map(([language, { options }]) => [language, options])),
  }
}
