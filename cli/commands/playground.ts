import { Command } from 'commander'
import type { OwnerScope } from '../../server/access/caller.ts'
import type { Mode } from '../../server/access/keys.ts'
import { getOrganisation } from '../../server/access/organisations.ts'
import { skillNumber } from '../../server/catalogue/ids.ts'
import { findSkills } from '../../server/catalogue/store.ts'
import { mandateRecord } from '../../server/mandates/mandate-record.ts'
import { createMandate } from '../../server/mandates/mandates.ts'
import { MandateInput } from '../../server/mandates/schema.ts'
import type { Tx } from '../../server/platform/database/database.ts'
import { parseJson } from '../../server/platform/http/json.ts'
import { compileRequestValidator, invalid } from '../../server/platform/http/validation.ts'
import { WorkflowInput } from '../../server/workflows/schema.ts'
import { createWorkflow, workflowRecords } from '../../server/workflows/workflows.ts'
import { DATA_SOURCES, dataText } from '../data-option.ts'
import { examples } from '../examples.ts'
import { mode } from '../options.ts'
import { print } from '../print.ts'
import { type CliStore, withStore } from '../store.ts'
import { noteCommand } from './audit.ts'

interface PlaygroundOptions {
  org: string
  mode: Mode
  data: string
}

/** What the console's playground makes: readable through the partner API, not changeable. */
export function playgroundCommand(): Command {
  const playground = new Command('playground')
    .description("make what the console's playground makes: partners can read it, but not change it")
    .addHelpText(...examples(`playground workflow --org ORG_… --mode test --data '{"name":"Trial"}'`))

  define('workflow', 'a workflow', async (tx, scope, { clock }, data) => {
    const made = await createWorkflow(tx, scope, clock, read(WorkflowInput, data), 'playground')
    const [record] = await workflowRecords(tx, [made])
    return { record: record!, id: made.workflow_id }
  })

  define('mandate', 'a job mandate; a running server prepares its questions', async (tx, scope, store, data) => {
    const { clock, config } = store
    const input = read<MandateInput>(MandateInput, data)
    const numbers = input.skills.flatMap((skill) => ('skill_id' in skill ? [skillNumber(skill.skill_id) ?? 0] : []))
    const found = await findSkills(tx, numbers)
    const surroundings = {
      clock,
      skills: { skill: (number: number) => found.get(number) },
      writer: { kind: config.ai ? ('ai' as const) : ('built-in' as const) },
    }
    const made = await createMandate(tx, scope, surroundings, input, 'playground')
    return { record: mandateRecord(made), id: made.mandate_id }
  })
  return playground

  function define(
    noun: string,
    description: string,
    make: (tx: Tx, scope: OwnerScope, store: CliStore, data: string) => Promise<{ record: object; id: string }>,
  ) {
    playground
      .command(noun)
      .description(description)
      .requiredOption('--org <org>', 'the organisation, ORG_…')
      .requiredOption('--mode <mode>', 'test or live', mode)
      .requiredOption('--data <json>', `the body, as the partner API takes it; ${DATA_SOURCES}`, dataText)
      .addHelpText(...examples(`playground ${noun} --org ORG_… --mode test --data @${noun}.json`))
      .action(async (options: PlaygroundOptions, command: Command) => {
        const { record, id } = await withStore((store) =>
          store.db.transaction(async (tx) => {
            await getOrganisation(tx, options.org)
            const scope = { orgId: options.org, mode: options.mode }
            const made = await make(tx, scope, store, options.data)
            await noteCommand(tx, store.clock, { ...scope, action: `playground.${noun}`, subject: made.id })
            return made
          }),
        )
        print(command, record, () => `The ${noun} ${id} is made.`)
      })
  }
}

/** Holds the text against the same schema that the partner API has. */
function read<Input>(schema: unknown, text: string): Input {
  const rawBody = Buffer.from(text)
  const body = parseJson(rawBody)
  const found = compileRequestValidator({ body: schema })({ params: {}, query: {}, body, rawBody })
  if (found.length > 0) throw invalid(found.map(({ detail }) => detail))
  return body as Input
}
