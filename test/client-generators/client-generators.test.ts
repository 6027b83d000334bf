import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { convertToOpenApi30 } from './openapi-3-0.ts'

// Generates clients from openapi/*.json with generators of other projects, and compiles them with a program that uses them.

const root = fileURLToPath(new URL('../../', import.meta.url))
const generators = fileURLToPath(new URL('./node_modules/', import.meta.url))
const apiNames = ['partner', 'verification', 'catalogue'] as const

// The lines below @ts-expect-error must not compile: this shows that the generated types are more than `any`.

const USE_OPENAPI_TYPESCRIPT = `
import type { components, operations as CatalogueOperations } from './catalogue.ts'
import type { operations, paths, webhooks } from './partner.ts'
import type { operations as SessionOperations } from './verification.ts'

type JsonOf<T> = T extends { content: { 'application/json': infer Body } } ? Body : never
type MandateInput = JsonOf<NonNullable<operations['createMandate']['requestBody']>>
declare const workflow_id: string
export const guideInput: MandateInput = GUIDE_MANDATE
type CreatedMandate = JsonOf<operations['createMandate']['responses'][202]>
type RateLimited = JsonOf<operations['createMandate']['responses'][429]>
type CompletedEvent = JsonOf<NonNullable<webhooks['result.completed']['post']['requestBody']>>
type OpenedSession = JsonOf<SessionOperations['openSession']['responses'][201]>

export const describeMandate = ({ data }: CreatedMandate): string => {
  const status: 'preparing' | 'ready' | 'failed' | 'archived' = data.status
  return data.mandate_id + status
}
export const describeError = ({ error }: RateLimited): string[] => error.details.map(({ path, message }) => path + message)
// @ts-expect-error a mandate needs skills
export const input: MandateInput = { workflow_id: 'WF_1', title: 'Electrician', company_name: 'Acme' }
// @ts-expect-error there is no such status
export const query: paths['/api/v1/partner/mandates']['get']['parameters']['query'] = { status: 'done' }
export const readEvent = ({ type, data }: CompletedEvent): boolean | null => {
  const eventType: 'result.completed' = type
  return eventType ? data.output.qualified : null
}
export const readToken = ({ data }: OpenedSession): string => data.sessionToken
export const search: CatalogueOperations['searchSkills']['parameters']['query'] = { keyword: 'weld' }
export const names = (skills: components['schemas']['PublicSkill'][]): string[] => skills.map(({ skill_name }) => skill_name)
`

const USE_HEY_API = `
import { searchSkills } from './catalogue/index.ts'
import { createMandate, getMandate, type Mandate, type WebhookEvent } from './partner/index.ts'
import { openSession } from './verification/index.ts'

export async function run(): Promise<void> {
  const { data, error, response } = await getMandate({ path: { mandate_id: 'JM_1' } })
  const mandate: Mandate | undefined = data?.data
  mandate?.status satisfies 'preparing' | 'ready' | 'failed' | 'archived' | undefined
  error?.error.details satisfies { path: string; message: string }[] | undefined
  response?.status satisfies number | undefined
  // @ts-expect-error a mandate needs skills
  await createMandate({ body: { workflow_id: 'WF_1', title: 'Electrician', company_name: 'Acme' } })
  const session = await openSession({ body: { externalStudentId: 's-1', name: 'Asha', email: 'asha@example.com' } })
  session.data?.data.sessionToken satisfies string | undefined
  const skills = await searchSkills({ query: { keyword: 'weld' } })
  skills.data?.data.map(({ skill_name }) => skill_name) satisfies string[] | undefined
}
export function read(event: WebhookEvent): unknown {
  if (event.type === 'result.completed') return event.data.output.qualified
  // @ts-expect-error data of this type has no output
  if (event.type === 'campaign.completed') return event.data.output
  return event.event_id
}
`

const USE_OPENAPI_GENERATOR = `
import { SkillsApi } from './catalogue/index'
import { Configuration, JobMandatesApi, type WebhookEvent } from './partner/index'
import { SessionsApi } from './verification/index'

export async function run(basePath: string): Promise<void> {
  const mandates = new JobMandatesApi(new Configuration({ basePath }))
  const { data } = await mandates.getMandate('JM_1')
  data.data.mandate_id satisfies string
  // @ts-expect-error the ID of the mandate is required
  await mandates.getMandate()
  const session = await new SessionsApi(new Configuration({ basePath })).getSession('vst_1')
  session.data.success satisfies boolean
  const skills = await new SkillsApi(new Configuration({ basePath })).searchSkills('weld')
  skills.data.data.map(({ skill_name }) => skill_name) satisfies string[]
}
export function read(event: WebhookEvent): string {
  return event.event_id
}
`

// Clients of descriptions as published have fewer types: openapi-generator 7.0.0 ignores webhooks and constants of OpenAPI 3.1.
const USE_OPENAPI_GENERATOR_3_1 = `
import { Configuration, JobMandatesApi } from './partner/index'
import { SessionsApi } from './verification/index'
import { SkillsApi } from './catalogue/index'

export async function run(basePath: string): Promise<void> {
  const mandates = new JobMandatesApi(new Configuration({ basePath }))
  const { data } = await mandates.getMandate('JM_1')
  data.data.mandate_id satisfies string
  // @ts-expect-error the ID of the mandate is required
  await mandates.getMandate()
  await new SessionsApi(new Configuration({ basePath })).getSession('vst_1')
  await new SkillsApi(new Configuration({ basePath })).searchSkills('weld')
}
`

/** The part of axios that clients of openapi-generator use. */
const AXIOS_DECLARATIONS = `
declare module 'axios' {
  export interface AxiosRequestConfig { url?: string; method?: string; headers?: Record<string, string>; data?: unknown }
  export type RawAxiosRequestConfig = AxiosRequestConfig
  export interface AxiosResponse<T> { data: T; status: number; headers: Record<string, string> }
  export type AxiosPromise<T = unknown> = Promise<AxiosResponse<T>>
  export interface AxiosInstance {
    defaults: { baseURL?: string }
    request<T, R = AxiosResponse<T>>(config: AxiosRequestConfig): Promise<R>
  }
  const axios: AxiosInstance
  export default axios
}
`

const folder = mkdtempSync(join(tmpdir(), 'attestry-clients-'))
after(() => rmSync(folder, { recursive: true, force: true }))

test('types of openapi-typescript compile under strict, and have the types of requests and responses', () => {
  const output = createFolder('openapi-typescript')
  const guide = readFileSync(join(root, 'docs/guides/use-an-sdk.md'), 'utf8')
  const [, version, input, options] = /`npx openapi-typescript@(\S+) "(.+)" --output partner\.ts(.*)`/.exec(guide)!
  const { devDependencies } = JSON.parse(readFileSync(join(root, 'test/client-generators/package.json'), 'utf8'))
  assert.deepEqual(
    [version, input],
    [devDependencies['openapi-typescript'], '$ATTESTRY_URL/docs/openapi/partner.json'],
    'the command of the guide',
  )
  for (const api of apiNames)
    runNode([
      join(generators, 'openapi-typescript/bin/cli.js'),
      ...[describedBy(api), '--output', join(output, `${api}.ts`), ...options!.trim().split(' ')],
    ])
  const [, guideMandate] = /client\.mandates\.create\((\{.*?^ *\})\)/ms.exec(guide)!
  compile(
    output,
    USE_OPENAPI_TYPESCRIPT.replace('GUIDE_MANDATE', () => guideMandate!),
  )
})

test('clients of @hey-api/openapi-ts compile under strict, and have the types of requests and responses', () => {
  const output = createFolder('hey-api')
  for (const api of apiNames)
    runNode([
      join(generators, '@hey-api/openapi-ts/bin/run.js'),
      ...['--input', describedBy(api), '--output', join(output, api)],
      ...['--client', '@hey-api/client-fetch', '--silent', '--no-log-file'],
    ])
  compile(output, USE_HEY_API)
})

const newerGeneratorJar = process.env.OPENAPI_GENERATOR_JAR
const generatorJar = newerGeneratorJar ?? findBundledJar()

// The npm package contains the last version of openapi-generator that was published there as a whole, 5.0.0-beta2 of 2020. Later ones
// download the program from Maven Central, which CI cannot reach; Debian has no package of it. To test another version, such as 7.x, set
// OPENAPI_GENERATOR_JAR to its file. The bundled one knows OpenAPI 3.0 only, so the descriptions are converted first.
test('clients of openapi-generator compile under strict, and have the types of requests and responses', {
  skip: findMissingJava(),
}, () => {
  generateAxiosClients('openapi-generator', USE_OPENAPI_GENERATOR, (api) =>
    JSON.stringify(convertToOpenApi30(JSON.parse(readFileSync(describedBy(api), 'utf8')))),
  )
})

test('clients that a newer openapi-generator makes of the descriptions as published compile under strict', {
  skip: newerGeneratorJar === undefined ? 'OPENAPI_GENERATOR_JAR is not set' : findMissingJava(),
}, () => {
  generateAxiosClients('openapi-generator-3-1', USE_OPENAPI_GENERATOR_3_1, (api) =>
    readFileSync(describedBy(api), 'utf8'),
  )
})

/** Generates clients of all APIs with openapi-generator, and compiles them with a program that uses them. */
function generateAxiosClients(
  name: string,
  program: string,
  describe: (api: (typeof apiNames)[number]) => string,
): void {
  const output = createFolder(name)
  for (const api of apiNames) {
    const description = join(output, `${api}.json`)
    writeFileSync(description, describe(api))
    run('java', [
      ...['-jar', generatorJar, 'generate', '--generator-name', 'typescript-axios'],
      ...['--input-spec', description, '--output', join(output, api)],
    ])
  }
  writeFileSync(join(output, 'axios.d.ts'), AXIOS_DECLARATIONS)
  compile(output, program)
}

test('the guide names the versions of the generators that are tested', () => {
  const read = (path: string) => readFileSync(join(root, path), 'utf8')
  const { devDependencies } = JSON.parse(read('test/client-generators/package.json')) as Record<
    string,
    Record<string, string>
  >
  const rows = [...read('docs/guides/use-an-sdk.md').matchAll(/^\| (\S+) +\| (\d\S+) +\|/gm)]
  assert.deepEqual(
    rows.map(([, name, version]) => [name, version]),
    [
      ['openapi-typescript', devDependencies!['openapi-typescript']],
      ['@hey-api/openapi-ts', devDependencies!['@hey-api/openapi-ts']],
      // The version of the npm package is followed by that of the program.
      ['openapi-generator', devDependencies!['@openapitools/openapi-generator-cli']!.replace('1.0.18-', '')],
    ],
  )
})

function findBundledJar(): string {
  return createRequire(import.meta.url).resolve('@openapitools/openapi-generator-cli/bin/openapi-generator.jar')
}

function findMissingJava(): string | false {
  return spawnSync('java', ['-version']).status === 0 ? false : 'java is not installed'
}

function describedBy(api: string): string {
  return join(root, `openapi/${api}.json`)
}

function createFolder(name: string): string {
  const path = join(folder, name)
  mkdirSync(path)
  return path
}

/** Compiles the generated files of a folder together with a program that uses them. */
function compile(output: string, program: string): void {
  writeFileSync(join(output, 'program.ts'), program)
  const options = {
    strict: true,
    noEmit: true,
    target: 'es2022',
    lib: ['es2022', 'dom', 'dom.iterable'],
    module: 'esnext',
    moduleResolution: 'bundler',
    allowImportingTsExtensions: true,
    types: [],
  }
  writeFileSync(join(output, 'tsconfig.json'), JSON.stringify({ compilerOptions: options, include: ['**/*.ts'] }))
  runNode([join(root, 'node_modules/typescript/bin/tsc'), '--project', output])
}

function runNode(args: string[]): void {
  assert.ok(existsSync(args[0]!), `${args[0]} is missing; run npm ci`)
  run(process.execPath, args)
}

function run(command: string, args: string[]): void {
  const { status, stdout, stderr } = spawnSync(command, args, { cwd: folder, encoding: 'utf8' })
  assert.equal(status, 0, `${command} ${args.join(' ')}\n${stdout.slice(0, 5_000)}\n${stderr.slice(-5_000)}`)
}
