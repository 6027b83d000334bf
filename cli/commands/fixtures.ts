import { randomBytes } from 'node:crypto'
import { existsSync, readFileSync } from 'node:fs'
import { setTimeout } from 'node:timers/promises'
import { Command } from 'commander'
import { isJsonObject, type JsonObject, parseJsonOrUndefined } from '../../server/platform/json.ts'
import { examples } from '../examples.ts'
import campaign from '../fixtures/campaign.json' with { type: 'json' }
import { wholeNumberParser } from '../options.ts'
import { openPartnerApi, type PartnerCall, type PartnerOptions } from '../partner-call.ts'
import { print } from '../print.ts'
import { isLiveKey, readProfile } from '../profile.ts'

/** A list of API calls; later calls can use values of the responses to earlier ones. */
interface Fixture {
  description?: string
  steps: Step[]
}

interface Step {
  name: string
  method: string
  path: string
  body?: unknown
  /** Values of the response for which the call is repeated. */
  until?: JsonObject
}

interface Options {
  run?: string
  timeout: number
}

const builtInFixtures: Record<string, Fixture> = { campaign }
const POLL_INTERVAL_MS = 500
/** States in which a repeated call cannot reach the expected values any more. */
const FINAL_STATES = new Set(['failed', 'archived', 'expired', 'cancelled'])

export function fixturesCommand(): Command {
  return new Command('fixtures')
    .description('Run a list of API calls with a TEST key, and print the values of each response')
    .argument('<fixture>', `${Object.keys(builtInFixtures).join(', ')}, or the path of a JSON file`)
    .option('--run <name>', 'name of this run; a repeated run with the same name creates nothing twice')
    .option('--timeout <seconds>', 'maximum time for a step that waits', wholeNumberParser(1, 3600), 120)
    .addHelpText(
      'after',
      `
A fixture is a JSON object with "steps". Each step has a name, a method, a path and optionally a body. "\${mandate.mandate_id}" is replaced
with a value of the response to the step "mandate", and "\${run}" with the name of the run. With "until": {"status": "ready"}, the call is
repeated until its response has these values.`,
    )
    .addHelpText(
      ...examples('fixtures campaign', 'fixtures ./my-fixture.json --run monday', 'fixtures campaign --json'),
    )
    .action(async (name: string, options: Options, command: Command) => {
      const fixture = readFixture(name)
      const { profile: profileName } = command.optsWithGlobals<PartnerOptions>()
      if (isLiveKey(await readProfile(process.env, profileName)))
        throw new Error('fixtures run with TEST keys only; select one with --profile')
      const call = await openPartnerApi({ profile: profileName, wait: true })
      const run = options.run ?? randomBytes(4).toString('hex')
      const responses: JsonObject = { run }
      for (const [index, step] of fixture.steps.entries()) {
        const startedAt = performance.now()
        responses[step.name] = await runStep(call, step, responses, { run, timeoutMs: options.timeout * 1000 })
        const seconds = ((performance.now() - startedAt) / 1000).toFixed(1)
        console.error(`${index + 1}/${fixture.steps.length}  ${step.name}  ${step.method} ${step.path}  ${seconds} s`)
      }
      print(command, responses, () => JSON.stringify(responses[fixture.steps.at(-1)!.name], null, 2))
    })
}

async function runStep(
  call: PartnerCall,
  step: Step,
  responses: JsonObject,
  { run, timeoutMs }: { run: string; timeoutMs: number },
): Promise<unknown> {
  const path = String(replaceReferences(step.path, responses))
  const body = replaceReferences(step.body, responses)
  const idempotencyKey = step.method === 'GET' ? undefined : `fixture-${run}-${step.name}`
  const deadline = performance.now() + timeoutMs
  for (;;) {
    const data = await call<JsonObject>(step.method, path, { body, idempotencyKey }).catch((error: Error) => {
      throw new Error(`step ${step.name}: ${error.message}`)
    })
    const differences = Object.entries(step.until ?? {}).filter(([name, value]) => data[name] !== value)
    if (differences.length === 0) return data
    const waitingFor = differences.map(([name, value]) => `${name} to be ${value}, but it is ${data[name]}`).join('; ')
    if (FINAL_STATES.has(String(data.status))) throw new Error(`step ${step.name}: expected ${waitingFor}`)
    if (performance.now() > deadline)
      throw new Error(`step ${step.name}: waited ${timeoutMs / 1000} s for ${waitingFor}; --timeout waits longer`)
    await setTimeout(POLL_INTERVAL_MS)
  }
}

/** Replaces "${step.path}" in all strings of a value. */
function replaceReferences(value: unknown, responses: JsonObject): unknown {
  if (typeof value === 'string') return value.replace(/\$\{([^}]+)\}/g, (_, path: string) => lookUp(path, responses))
  if (Array.isArray(value)) return value.map((item) => replaceReferences(item, responses))
  if (!isJsonObject(value)) return value
  return Object.fromEntries(Object.entries(value).map(([name, item]) => [name, replaceReferences(item, responses)]))
}

function lookUp(path: string, responses: JsonObject): string {
  let value: unknown = responses
  for (const name of path.split('.')) {
    if (typeof value !== 'object' || value === null || !Object.hasOwn(value, name))
      throw new Error(`\${${path}} does not exist in the responses of the earlier steps`)
    value = (value as JsonObject)[name]
  }
  return String(value)
}

function readFixture(name: string): Fixture {
  if (Object.hasOwn(builtInFixtures, name)) return builtInFixtures[name]!
  if (!existsSync(name))
    throw new Error(
      `there is no fixture ${name}; expected ${Object.keys(builtInFixtures).join(', ')} or the path of a file`,
    )
  const fixture = parseJsonOrUndefined(readFileSync(name, 'utf8'))
  if (!isJsonObject(fixture) || !Array.isArray(fixture.steps) || fixture.steps.length === 0)
    throw new Error(`${name} must be a JSON object with a list "steps"`)
  for (const [index, step] of fixture.steps.entries()) {
    const valid = isJsonObject(step) && /^[A-Za-z]\w*$/.test(String(step.name)) && String(step.path).startsWith('/')
    if (!valid || !['GET', 'POST', 'PUT', 'DELETE'].includes(String(step.method)))
      throw new Error(
        `${name}: step ${index + 1} must have a name of letters and digits, a method (GET, POST, PUT, DELETE) and a path that starts with /`,
      )
  }
  return fixture as unknown as Fixture
}
