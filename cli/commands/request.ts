import { Command, InvalidArgumentError } from 'commander'
import { AttestryClient } from '../../sdk/index.ts'
import { DATA_SOURCES, jsonData } from '../data-option.ts'
import { LONGEST_WAIT, NO_WAIT, untilItPasses } from '../listen-loop.ts'
import { readProfile, saveProfile } from '../profile.ts'

interface Options {
  data?: unknown
  onBehalfOf?: string
  idempotencyKey?: string
  include?: boolean
  pick?: string
  save?: boolean
  wait: boolean
}

export function requestCommand(): Command {
  return new Command('request')
    .description('make a signed call to the partner API and print the answer')
    .argument('<method>', 'GET, POST, PUT or DELETE', method)
    .argument('<path>', 'such as /skills/search?q=welding; the base path is added')
    .option('--data <json>', `the body; ${DATA_SOURCES}`, jsonData)
    .option('--on-behalf-of <recruiter>', 'the recruiter for whom the call is made')
    .option('--idempotency-key <key>', 'so that a retry does nothing twice')
    .option('-i, --include', 'print the status and the headers too')
    .option(
      '--pick <path>',
      'print only this part of "data", such as workflow_id or items[0].name: for shell variables',
    )
    .option(...NO_WAIT)
    .option('--save', 'keep the key of the environment in the profile file')
    .addHelpText(
      'after',
      `
The key is taken from, in this order:
  1. the environment: ATTESTRY_KEY_ID, ATTESTRY_SECRET, and ATTESTRY_URL (default http://127.0.0.1:8080)
  2. the profile file: ATTESTRY_PROFILE, or ~/.config/attestry/profile.json (readable by you alone)
  3. the demo keys that the first start left in DATA_DIR

Examples:
  $ npx attestry request GET /shifts
  $ npx attestry request GET /countries --on-behalf-of asha@example.com -i
  $ npx attestry request POST /workflows --data '{"name":"Site hiring"}'
  $ npx attestry request POST /mandates --data @mandate.json --idempotency-key job-4711
  $ WORKFLOW=$(npx attestry request POST /workflows --data '{"name":"Site hiring"}' --pick workflow_id)

A call that is over a limit (429) is made again when it could pass, within ${LONGEST_WAIT} s in all; standard error tells.
The exit code is 0 for a 2xx answer and 1 for any other.`,
    )
    .action(async (verb: string, path: string, options: Options) => {
      const profile = await readProfile(process.env)
      if (options.save) console.error(`Saved in ${await saveProfile(process.env, profile)}.`)
      if (!path.startsWith('/')) throw new Error('the path must start with /, such as /shifts')
      const client = new AttestryClient(profile)
      const call = () =>
        client.request(verb, path, {
          body: options.data,
          onBehalfOf: options.onBehalfOf,
          idempotencyKey: options.idempotencyKey,
        })
      const answer = await untilItPasses(call, { longest: options.wait ? LONGEST_WAIT : 0 }).catch((error) => {
        throw new Error(
          `${profile.baseUrl} cannot be reached: ${error.cause?.code ?? error.message}. Is the server running?`,
        )
      })
      if (options.include) {
        console.log(`HTTP ${answer.status}`)
        for (const [name, value] of answer.headers) console.log(`${name}: ${value}`)
        console.log()
      }
      const fine = answer.status >= 200 && answer.status <= 299
      if (options.pick === undefined) console.log(shown(answer.body))
      else if (fine) console.log(shown(pick(answer.body, options.pick)))
      else console.error(shown(answer.body)) // a variable that is assigned to stays empty, and the reason is seen
      if (!fine) process.exitCode = 1
    })
}

function shown(value: unknown): string {
  return typeof value === 'string' ? value : JSON.stringify(value, null, 2)
}

/** The part of an answer's data that a path such as `items[0].name` names. */
function pick(body: unknown, path: string): unknown {
  let found: unknown = (body as { data?: unknown } | undefined)?.data
  for (const step of path.split(/[.[\]]+/).filter((part) => part !== '')) {
    const within = typeof found === 'object' && found !== null ? (found as Record<string, unknown>) : {}
    if (!Object.hasOwn(within, step)) {
      const names = Object.keys(within)
      throw new Error(
        `data has no ${path}: at ${step} there ${names.length > 0 ? `is ${names.join(', ')}` : 'is nothing'}`,
      )
    }
    found = within[step]
  }
  return found
}

function method(text: string) {
  const upper = text.toUpperCase()
  if (!['GET', 'POST', 'PUT', 'PATCH', 'DELETE', 'HEAD'].includes(upper))
    throw new InvalidArgumentError('Expected GET, POST, PUT or DELETE.')
  return upper
}
