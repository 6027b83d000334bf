import { randomUUID } from 'node:crypto'
import { setTimeout as pause } from 'node:timers/promises'
import { Argument, Command } from 'commander'
import { revokeAtsKeys } from '../../server/access/ats-keys.ts'
import type { OrgScope } from '../../server/access/caller.ts'
import { readDemoKeys } from '../../server/access/demo-files.ts'
import { getOrganisation } from '../../server/access/organisations.ts'
import { problem } from '../../server/api/problem.ts'
import { type AdapterName, adapterNames } from '../../server/ats/adapter.ts'
import { adapters } from '../../server/ats/adapters.ts'
import {
  createConnection,
  createConnectionKey,
  listConnections,
  requestTestList,
} from '../../server/ats/connections.ts'
import { balanceOf, grantCredits } from '../../server/campaigns/credits.ts'
import { skillId } from '../../server/catalogue/ids.ts'
import { LoadedSkills } from '../../server/catalogue/loaded-skills.ts'
import { findSkills } from '../../server/catalogue/store.ts'
import { personas } from '../../server/channels/simulator/test-numbers.ts'
import { readConfig } from '../../server/config.ts'
import { listReadyMandates } from '../../server/mandates/mandate-rows.ts'
import { createMandate } from '../../server/mandates/mandates.ts'
import type { Tx } from '../../server/platform/database/database.ts'
import { createWorkflow } from '../../server/workflows/workflows.ts'
import { examples } from '../examples.ts'
import { wholeNumberParser } from '../options.ts'
import { print } from '../print.ts'
import { serverAddress } from '../server-address.ts'
import { ListRejection, type SimulatedAts, type SimulatedOrder } from '../simulated-ats/simulated-ats.ts'
import { simulations } from '../simulated-ats/simulations.ts'
import { type CliStore, withStore } from '../store.ts'
import { recordCliChange } from './audit.ts'

interface SimulateOptions {
  org?: string
  key?: string
  token?: string
  url?: string
  test?: string
  persona: number
  port: number
  timeout: number
}

const DEFAULT_PORT = 8091
/** The credential that the simulated ATS issues. */
const SIMULATED_TOKEN = 'token-of-the-simulated-ats'
const SIMULATED_ACCOUNT = 'sandbox:simulated'
const POLL_INTERVAL_MS = 200
const LIST_INTERVAL_MS = 2000
/** How long a new key may be rejected. */
const KEY_TIMEOUT_MS = 3000
/** Below this balance a credit is granted for the order: simulations that run at the same time may spend the others. */
const MIN_CREDITS = 10
/** Skills of the built-in catalogue that the built-in question bank can measure. */
const SAMPLE_SKILLS = [2001, 2005]

export function simulateCommand(): Command {
  return new Command('simulate')
    .description('Simulate an ATS against a running server in TEST mode: order an assessment and wait for the report')
    .addArgument(new Argument('<ats>', 'the ATS').choices(adapterNames))
    .option('--org <org>', 'organisation ID, ORG_… (default: the demo organisation); a TEST connection is created')
    .option('--key <key>', 'use this key, VAT_TEST_…, instead of creating a connection')
    .option(
      '--token <token>',
      'with --key: the credential of the ATS that is stored in the connection',
      SIMULATED_TOKEN,
    )
    .option('--url <url>', 'address of the server (default: that of the server in DATA_DIR)')
    .option('--test <mandate>', 'mandate to order, JM_… (default: the first in the list)')
    .option('--persona <n>', `how the simulated candidate behaves: ${describePersonas()}`, wholeNumberParser(1, 11), 1)
    .option(
      '--port <port>',
      'port on which the simulated ATS receives reports',
      wholeNumberParser(1, 65_535),
      DEFAULT_PORT,
    )
    .option('--timeout <seconds>', 'how long to wait for the report', wholeNumberParser(1, 3600), 120)
    .addHelpText(
      ...examples(
        'ats simulate greenhouse',
        'ats simulate ashby --persona 5',
        'ats simulate workable --key VAT_TEST_…',
      ),
    )
    .action(simulate)
}

/** Returns the numbers of the simulated candidates with their behaviour, such as "1 passes, 2 knocked out". */
function describePersonas(): string {
  return Object.entries(personas)
    .toSorted(([first], [second]) => Number(first) - Number(second))
    .map(([number, name]) => `${Number(number)} ${name.replaceAll('_', ' ')}`)
    .join(', ')
}

async function simulate(adapter: AdapterName, options: SimulateOptions, command: Command) {
  const serverUrl = options.url ?? (await serverAddress(readConfig(process.env)))
  const { title, verifySignature, buildTestList } = adapters[adapter]
  if (options.key !== undefined && verifySignature)
    throw problem('VALIDATION_FAILED', `${title} signs its calls and has no key; leave out --key.`)
  if (options.key !== undefined && !options.key.startsWith('VAT_TEST_'))
    throw problem('VALIDATION_FAILED', 'Simulated orders need a TEST key, VAT_TEST_…: the candidates do not exist.')
  const { key, connectionId } =
    options.key === undefined
      ? await createSimulatedConnection(adapter, options)
      : { key: options.key, connectionId: undefined }
  const ats = await openSimulation(adapter, {
    serverUrl,
    key,
    connectionId,
    token: options.key ? options.token : SIMULATED_TOKEN,
    accountId: SIMULATED_ACCOUNT,
    signingSecret: SIMULATED_TOKEN,
    port: options.port,
  })
  ats.log = (line) => console.error(line)
  try {
    // Now that the simulated ATS can receive it.
    if (buildTestList && connectionId !== undefined)
      await withStore(({ db, clock }) => db.transaction((tx) => requestTestList(tx, clock, connectionId)))
    const result = await simulateOrder(ats, options)
    print(command, result, () => describeResult(title, result))
    if (ats.violations.length > 0)
      throw new Error(`Attestry sent messages in a wrong format:\n  ${ats.violations.join('\n  ')}`)
  } finally {
    await ats.close()
  }
}

async function openSimulation(adapter: AdapterName, options: Parameters<(typeof simulations)[AdapterName]>[0]) {
  try {
    return await simulations[adapter](options)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EADDRINUSE') throw error
    throw problem('CONFLICT', `Port ${options.port} is in use; choose another one with --port.`)
  }
}

interface OrderSummary {
  assessment_id: string | undefined
  state: string
  message: string | undefined
  result: unknown
}

/** Orders one assessment and waits until it has ended. */
async function simulateOrder(ats: SimulatedAts, { test, persona, timeout }: SimulateOptions): Promise<OrderSummary> {
  const deadline = Date.now() + timeout * 1000
  const firstTestId = await findTest(ats, deadline)
  const testId = test ?? firstTestId
  const run = randomUUID()
  const order = await ats.order(run, testId, {
    id: run,
    firstName: 'Simulated',
    lastName: 'Candidate',
    email: `candidate-${String(persona).padStart(2, '0')}+${run.slice(0, 8)}@test.attestry.example`,
  })
  while (isOpen(order)) {
    if (Date.now() > deadline)
      throw problem(
        'CONFLICT',
        `No report arrived within ${timeout} s. See \`npx attestry ats orders --org ORG_…\` for its state.`,
      )
    await pause(POLL_INTERVAL_MS)
  }
  return { assessment_id: order.assessmentId, state: order.state, message: order.message, result: order.result }
}

/** Returns the first test. The server accepts a new key within a second, and prepares the questions of a new mandate in the background. */
async function findTest(ats: SimulatedAts, deadline: number): Promise<string> {
  const keyDeadline = Date.now() + KEY_TIMEOUT_MS
  for (;;) {
    const tests = await listTests(ats)
    if (Array.isArray(tests) && tests[0]) return tests[0].id
    if (!Array.isArray(tests) && (tests.status !== 401 || Date.now() > keyDeadline))
      throw problem('CONFLICT', tests.message)
    if (Date.now() > deadline)
      throw problem('CONFLICT', 'The list of tests is empty. Create a mandate in TEST mode and wait until it is ready.')
    await pause(Array.isArray(tests) ? LIST_INTERVAL_MS : POLL_INTERVAL_MS)
  }
}

async function listTests(ats: SimulatedAts): Promise<{ id: string }[] | ListRejection> {
  try {
    return await ats.listTests()
  } catch (error) {
    if (error instanceof ListRejection) return error
    throw error
  }
}

function isOpen({ state }: SimulatedOrder): boolean {
  return ['ordered', 'started', 'pending'].includes(state)
}

function describeResult(title: string, { assessment_id, state, message, result }: OrderSummary): string {
  if (assessment_id === undefined) return `The order was rejected. ${title} shows the recruiter: ${message}`
  const reportUrl = /https?:\/\/[^"]+\/reports\/[^"]+/.exec(JSON.stringify(result) ?? '')?.[0]
  return [`${title} shows the state "${state}".`, ...(reportUrl ? [`Report: ${reportUrl}`] : [])].join('\n')
}

/** Creates a TEST connection, or a new key of the one that an earlier simulation created. */
async function createSimulatedConnection(
  adapter: AdapterName,
  { org, port }: SimulateOptions,
): Promise<{ key: string; connectionId: string }> {
  return withStore(async (store) => {
    const orgId = org ?? (await readDemoKeys(store.config.dataDir))?.org_id
    if (orgId === undefined)
      throw problem('VALIDATION_FAILED', 'There is no demo organisation here; name an organisation with --org.')
    const scope: OrgScope = { orgId, mode: 'test' }
    return store.db.transaction(async (tx) => {
      await getOrganisation(tx, orgId)
      const { credentials, apiUrl: apiUrlField, title } = adapters[adapter]
      const name = `Simulated ${title}`
      const apiUrl = apiUrlField && `http://127.0.0.1:${port}`
      const existing = (await listConnections(tx, scope)).find(
        (each) => each.name === name && each.state === 'active' && each.api_url === (apiUrl ?? null),
      )
      if (existing) await revokeAtsKeys(tx, store.clock, existing.connection_id)
      const values = { token: SIMULATED_TOKEN, account_id: SIMULATED_ACCOUNT, signing_secret: SIMULATED_TOKEN }
      const connection =
        existing ??
        (await createConnection(tx, store, scope, {
          adapter,
          name,
          country: 'IN',
          consent_basis: 'Simulated candidates.',
          ...Object.fromEntries(credentials.map(({ name }) => [name, values[name]])),
          ...(apiUrl ? { api_url: apiUrl } : {}),
        }))
      await prepareOrganisation(store, tx, scope)
      const { key } = await createConnectionKey(tx, store, connection)
      const { connection_id: connectionId } = connection
      await recordCliChange(tx, store.clock, { ...scope, action: 'ats.simulate', subject: connectionId })
      return { key: key ?? '', connectionId }
    })
  })
}

/** Grants a TEST credit if few are left, and creates a mandate if none is ready, so that the command works in a new deployment. */
async function prepareOrganisation(store: CliStore, tx: Tx, scope: OrgScope) {
  if ((await balanceOf(tx, scope)) < MIN_CREDITS) {
    await grantCredits(tx, scope, store.clock, 1)
    console.error('Granted one TEST credit for the order.')
  }
  if ((await listReadyMandates(tx, scope, { ids: null, limit: 1 })).length > 0) return
  const { workflow_id } = await createWorkflow(tx, scope, store.clock, { name: 'Simulated orders' }, 'playground')
  const skills = await findSkills(tx, SAMPLE_SKILLS)
  const { mandate_id } = await createMandate(
    tx,
    scope,
    {
      clock: store.clock,
      skills: new LoadedSkills({ skill: (number) => skills.get(number) }),
      writer: { kind: store.config.ai ? 'ai' : 'built-in' },
    },
    {
      workflow_id,
      title: 'Electrician',
      company_name: 'Example company',
      location: { city: 'Pune', state: 'Maharashtra', pincode: '411001' },
      skills: SAMPLE_SKILLS.map((number) => ({ skill_id: skillId(number), verify: true })),
    },
    'playground',
  )
  console.error(`Created the TEST mandate ${mandate_id}. The server prepares its questions.`)
}
