import { Command } from 'commander'
import type { OrgScope } from '../../server/access/caller.ts'
import type { Mode } from '../../server/access/keys.ts'
import { getOrganisation } from '../../server/access/organisations.ts'
import { invalid } from '../../server/api/invalid.ts'
import { skillNumber } from '../../server/catalogue/ids.ts'
import { LoadedSkills } from '../../server/catalogue/loaded-skills.ts'
import { findSkills } from '../../server/catalogue/store.ts'
import { mandateRecord } from '../../server/mandates/mandate-record.ts'
import { createMandate } from '../../server/mandates/mandates.ts'
import { MandateInput } from '../../server/mandates/schema.ts'
import type { Tx } from '../../server/platform/database/database.ts'
import { parseJson } from '../../server/platform/http/json.ts'
import { compileRequestValidator } from '../../server/platform/http/validation.ts'
import { WorkflowInput } from '../../server/workflows/schema.ts'
import { createWorkflow, workflowRecords } from '../../server/workflows/workflows.ts'
import { DATA_SOURCES, readData } from '../data-option.ts'
import { examples } from '../examples.ts'
import { parseMode } from '../options.ts'
import { print } from '../print.ts'
import { type CliStore, withStore } from '../store.ts'
import { recordCliChange } from './audit.ts'

interface PlaygroundOptions {
  org: string
  mode: Mode
  data: string
}

/** Creates workflows and mandates like the console's playground. The partner API can read them, but not change them. */
export function playgroundCommand(): Command {
  const playground = new Command('playground')
    .description('Create playground workflows and mandates (read-only for API partners)')
    .addHelpText(...examples(`playground workflow --org ORG_… --mode test --data '{"name":"Trial"}'`))

  addSubcommand('workflow', 'Create a workflow', async (tx, scope, { clock }, data) => {
    const workflow = await createWorkflow(tx, scope, clock, parseInput(WorkflowInput, data), 'playground')
    const [record] = await workflowRecords(tx, [workflow])
    return { record: record!, id: workflow.workflow_id }
  })

  addSubcommand(
    'mandate',
    'Create a job mandate (a running server prepares its questions)',
    async (tx, scope, store, data) => {
      const { clock, config } = store
      const input = parseInput<MandateInput>(MandateInput, data)
      const skillNumbers = input.skills.flatMap((skill) =>
        'skill_id' in skill ? [skillNumber(skill.skill_id) ?? 0] : [],
      )
      const skills = await findSkills(tx, skillNumbers)
      const deps = {
        clock,
        skills: new LoadedSkills({ skill: (number) => skills.get(number) }),
        writer: { kind: config.ai ? ('ai' as const) : ('built-in' as const) },
      }
      const mandate = await createMandate(tx, scope, deps, input, 'playground')
      return { record: mandateRecord(mandate), id: mandate.mandate_id }
    },
  )
  return playground

  function addSubcommand(
    noun: string,
    description: string,
    create: (tx: Tx, scope: OrgScope, store: CliStore, data: string) => Promise<{ record: object; id: string }>,
  ) {
    playground
      .command(noun)
      .description(description)
      .requiredOption('--org <org>', 'organisation ID, ORG_…')
      .requiredOption('--mode <mode>', 'test or live', parseMode)
      .requiredOption('--data <json>', `request body as in the partner API; ${DATA_SOURCES}`, readData)
      .addHelpText(...examples(`playground ${noun} --org ORG_… --mode test --data @${noun}.json`))
      .action(async (options: PlaygroundOptions, command: Command) => {
        const { record, id } = await withStore((store) =>
          store.db.transaction(async (tx) => {
            await getOrganisation(tx, options.org)
            const scope = { orgId: options.org, mode: options.mode }
            const result = await create(tx, scope, store, options.data)
            await recordCliChange(tx, store.clock, { ...scope, action: `playground.${noun}`, subject: result.id })
            return result
          }),
        )
        print(command, record, () => `Created ${noun} ${id}.`)
      })
  }
}

/** Parses a request body and validates it with its schema in the partner API. */
function parseInput<Input>(schema: unknown, text: string): Input {
  const rawBody = Buffer.from(text)
  const body = parseJson(rawBody)
  const errors = compileRequestValidator({ body: schema })({ params: {}, query: {}, body, rawBody })
  if (errors.length > 0) throw invalid(errors.map(({ detail }) => detail))
  return body as Input
}
