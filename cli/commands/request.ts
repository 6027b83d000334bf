import { Command, InvalidArgumentError } from 'commander'
import { AttestryClient } from '../../sdk/index.ts'
import { describeConnectionError } from '../connection-error.ts'
import { DATA_SOURCES, readJsonData } from '../data-option.ts'
import { programName } from '../examples.ts'
import { explainUnauthorized } from '../key-check.ts'
import { escapeControls, removeControls } from '../print.ts'
import { describeProfile, readProfile, saveProfile } from '../profile.ts'
import { MAX_WAIT_SECONDS, NO_WAIT_OPTION, retryWhileLimited } from '../rate-limit-retry.ts'

interface Options {
  data?: unknown
  onBehalfOf?: string
  idempotencyKey?: string
  include?: boolean
  pick?: string
  save?: boolean
  profile?: string
  wait: boolean
}

const METHODS = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE', 'HEAD']
const METHOD_LIST = `${METHODS.slice(0, -1).join(', ')} or ${METHODS.at(-1)}`

export function requestCommand(): Command {
  return new Command('request')
    .description('Send a signed request to the partner API and print the response')
    .argument('<method>', METHOD_LIST, parseMethod)
    .argument('<path>', 'path below /api/v1/partner, such as /skills/search?q=welding')
    .option('-d, --data <json>', `request body; ${DATA_SOURCES}`, readJsonData)
    .option('--on-behalf-of <recruiter>', 'recruiter on whose behalf the request is sent')
    .option('--idempotency-key <key>', 'idempotency key, which makes it safe to send the request again')
    .option('-i, --include', 'also print the status and the headers')
    .option('--pick <path>', 'print only this part of "data", such as workflow_id or items[0].name')
    .option(...NO_WAIT_OPTION)
    .option('--save', 'store the key in the default profile')
    .addHelpText(
      'after',
      `
The key is read from the first of these that exists:
  1. the profile of --profile, which "attestry profile save" creates
  2. the environment: ATTESTRY_URL, ATTESTRY_KEY_ID and ATTESTRY_SECRET
  3. the same variables in the file .env of the current folder
  4. the default profile: ATTESTRY_PROFILE, or ~/.config/attestry/profile.json (must be readable only by you)
  5. the demo keys that the server stored in DATA_DIR when it first started
With 3 and 4, ATTESTRY_URL of the environment replaces the address of the server. The demo keys belong to the server of this machine:
with them, ATTESTRY_URL can only be another of its local addresses.

Examples:
  $ ${programName} request GET /shifts
  $ ${programName} request GET /countries --on-behalf-of asha@example.com -i
  $ ${programName} request POST /workflows --data '{"name":"Site hiring"}'
  $ ${programName} request POST /mandates --data @mandate.json --idempotency-key job-4711
  $ WORKFLOW=$(${programName} request POST /workflows --data '{"name":"Site hiring"}' --pick workflow_id)

If a rate limit is exceeded (429), the request is retried for up to ${MAX_WAIT_SECONDS} s, with a message on standard error.
The exit code is 0 for a 2xx response and 1 otherwise.`,
    )
    .action(async (method: string, path: string, _options: object, command: Command) => {
      const options = command.optsWithGlobals<Options>()
      const profile = await readProfile(process.env, options.profile)
      console.error(`Using the ${describeProfile(profile)}.`)
      if (options.save) console.error(`Saved the key in ${await saveProfile(process.env, profile)}.`)
      if (!path.startsWith('/')) throw new Error(`the path must start with /, such as /shifts; got ${path}`)
      const client = new AttestryClient(profile)
      const { data: body, onBehalfOf, idempotencyKey } = options
      const call = () => client.request(method, path, { body, onBehalfOf, idempotencyKey })
      const response = await retryWhileLimited(call, { maxWaitSeconds: options.wait ? MAX_WAIT_SECONDS : 0 }).catch(
        (error) => {
          throw new Error(describeConnectionError(profile.baseUrl, error))
        },
      )
      if (options.include) {
        console.log(`HTTP ${response.status}`)
        for (const [name, value] of response.headers) console.log(`${name}: ${value}`)
        console.log()
      }
      const succeeded = response.status >= 200 && response.status <= 299
      if (options.pick === undefined) console.log(formatValue(response.body))
      else if (succeeded) console.log(formatValue(pickValue(response.body, options.pick)))
      else console.error(formatValue(response.body)) // not on standard output, which may be assigned to a shell variable
      const explanation = await explainUnauthorized(
        profile,
        method,
        path,
        { body, onBehalfOf, idempotencyKey },
        response,
      )
      if (explanation !== undefined) console.error(`attestry: ${explanation}`)
      if (!succeeded) process.exitCode = 1
    })
}

function formatValue(value: unknown): string {
  return typeof value === 'string' ? removeControls(value) : escapeControls(JSON.stringify(value, null, 2))
}

/** Returns the part of the response's data at a path such as `items[0].name`. */
function pickValue(body: unknown, path: string): unknown {
  let value: unknown = (body as { data?: unknown } | undefined)?.data
  let valuePath = 'data'
  for (const segment of path.split(/[.[\]]+/).filter((part) => part !== '')) {
    const parent = typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : {}
    if (!Object.hasOwn(parent, segment)) {
      const propertyNames = Object.keys(parent)
      throw new Error(
        `${valuePath} has no property ${segment}${propertyNames.length > 0 ? `; expected one of ${propertyNames.join(', ')}` : ''}.`,
      )
    }
    valuePath += Array.isArray(parent) ? `[${segment}]` : `.${segment}`
    value = parent[segment]
  }
  return value
}

function parseMethod(text: string) {
  const upper = text.toUpperCase()
  if (!METHODS.includes(upper)) throw new InvalidArgumentError(`Expected ${METHOD_LIST}.`)
  return upper
}
