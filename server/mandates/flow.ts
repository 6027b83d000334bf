import type { OwnerScope } from '../access/caller.ts'
import { problem } from '../api/problem.ts'
import type { Queries } from '../platform/database/database.ts'
import type { Language, Method } from '../workflows/workflows.ts'

export type { Language, Method }

/** One text in the languages that there are of it; never empty. */
export type Texts = Partial<Record<Language, string>>

export interface FlowItem {
  item_id: string
  key: 0 | 1 | 2 | 3
  difficulty: 1 | 2 | 3
  text: Partial<Record<Language, { stem: string; options: [string, string, string, string] }>>
}

/** Everything that candidates are asked for a mandate, in the order in which they are asked. */
export interface Flow {
  methods: Method[]
  /** The workflow's. A text may lack some of them. */
  languages: Language[]
  company_name: string
  title: string
  enrichment: { key: string; type: 'yes_no' | 'voice'; text: Texts; knockout?: 'yes' | 'no'; required: boolean }[]
  skills: { skill_id: string; name: string; items: FlowItem[] }[]
  interest: boolean
}

export async function findFlow(
  tx: Queries,
  { orgId, mode }: OwnerScope,
  mandateId: string,
  flowVersion: number,
): Promise<Flow | undefined> {
  const found = await tx
    .selectFrom('mandate_flows')
    .innerJoin('mandates', 'mandates.mandate_id', 'mandate_flows.mandate_id')
    .select('flow')
    .where('mandates.org_id', '=', orgId)
    .where('mandates.mode', '=', mode)
    .where('mandate_flows.mandate_id', '=', mandateId)
    .where('mandate_flows.flow_version', '=', flowVersion)
    .executeTakeFirst()
  return found && (JSON.parse(found.flow) as Flow)
}

/** What was prepared for this version of the mandate; earlier versions stay for those who started with them. */
export async function getFlow(tx: Queries, scope: OwnerScope, mandateId: string, flowVersion: number): Promise<Flow> {
  const flow = await findFlow(tx, scope, mandateId, flowVersion)
  if (!flow) throw problem('NOT_FOUND', `Version ${flowVersion} of ${mandateId} was never prepared.`)
  return flow
}

/** The flow as partners see it: no keys, and nothing that tells what is right. */
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
