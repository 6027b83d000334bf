import type { OrgScope } from '../access/caller.ts'
import { problem } from '../api/problem.ts'
import type { Queries } from '../platform/database/database.ts'
import type { Language } from '../platform/text/languages.ts'
import type { Method } from '../workflows/enums.ts'

/** A text in one or more languages. */
type Texts = Partial<Record<Language, string>>

export interface FlowItem {
  item_id: string
  key: 0 | 1 | 2 | 3
  difficulty: 1 | 2 | 3
  text: Partial<Record<Language, { stem: string; options: [string, string, string, string] }>>
}

/** All questions of a mandate, in the order in which candidates get them. */
export interface Flow {
  methods: Method[]
  /** Languages of the workflow; some texts may lack some of them. */
  languages: Language[]
  company_name: string
  title: string
  enrichment: { key: string; type: 'yes_no' | 'voice'; text: Texts; knockout?: 'yes' | 'no'; required: boolean }[]
  skills: { skill_id: string; name: string; items: FlowItem[] }[]
  interest: boolean
}

async function findFlow(
  tx: Queries,
  { orgId, mode }: OrgScope,
  mandateId: string,
  flowVersion: number,
): Promise<Flow | undefined> {
  const row = await tx
    .selectFrom('mandate_flows')
    .innerJoin('mandates', 'mandates.mandate_id', 'mandate_flows.mandate_id')
    .select('flow')
    .where('mandates.org_id', '=', orgId)
    .where('mandates.mode', '=', mode)
    .where('mandate_flows.mandate_id', '=', mandateId)
    .where('mandate_flows.flow_version', '=', flowVersion)
    .executeTakeFirst()
  return row && (JSON.parse(row.flow) as Flow)
}

/** Returns the flow of this version; earlier versions stay available to candidates who started with them. */
export async function getFlow(tx: Queries, scope: OrgScope, mandateId: string, flowVersion: number): Promise<Flow> {
  const flow = await findFlow(tx, scope, mandateId, flowVersion)
  if (!flow)
    throw problem('NOT_FOUND', `Mandate ${mandateId} has no prepared questions for flow version ${flowVersion}.`)
  return flow
}

/** Returns the questions of a flow for partners, without the correct answers. */
export function questionsOf({ enrichment, skills, interest }: Flow) {
  return {
    enrichment: enrichment.map(({ key, type, required, text }) => ({ key, type, required, text })),
    skills: skills.map(({ skill_id, name, items }) => ({
      skill_id,
      name,
      items: items.map(({ difficulty, text }) => {
        const wordings = Object.entries(text)
        return {
          difficulty,
          stem: Object.fromEntries(wordings.map(([language, { stem }]) => [language, stem])),
          options: Object.fromEntries(wordings.map(([language, { options }]) => [language, options])),
        }
      }),
    })),
    interest,
  }
}
