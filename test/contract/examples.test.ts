import assert from 'node:assert/strict'
import { spawn, spawnSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { delimiter, dirname, join } from 'node:path'
import { after, before, type TestContext, test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { Type } from 'typebox'
import { perform } from '../../server/access/idempotency.ts'
import { guardPartnerRoutes } from '../../server/access/partner-guards.ts'
import { PARTNER_BASE } from '../../server/api/envelope.ts'
import type { Context } from '../../server/context.ts'
import type { App } from '../../server/platform/http/server.ts'
import { startApp, type TestKey } from '../support/app.ts'
import { TestClock } from '../support/clock.ts'
import { buildSdk } from '../support/sdk-package.ts'

const root = fileURLToPath(new URL('../../', import.meta.url))
const guide = readFileSync(join(root, 'docs/guides/sign-your-first-request.md'), 'utf8')

interface Vector {
  name: string
  secret: string
  timestamp: number
  method: string
  target: string
  on_behalf_of: string
  idempotency_key: string
  body: string
  lines: string
  signature: string
}

const { vectors } = JSON.parse(readFileSync(join(root, 'docs/guides/signature-vectors.json'), 'utf8')) as {
  vectors: Vector[]
}

/** One section of the guide: a whole program, the command that runs it, and what makes it send a POST too. */
interface Example {
  heading: string
  language: string
  /** What must be on the machine, each with a command that succeeds where it is. */
  needs: Record<string, string>
  withPost(program: string, post: string): string
  /** The program with lines added that print the signature of every vector, each on a line of its own. */
  withVectors?(program: string): string
}

const appended = (program: string, more: string) => `${program}\n${more}`

const examples: Example[] = [
  {
    heading: 'Bash: curl and openssl',
    language: 'bash',
    needs: { bash: 'bash --version', 'curl 7.76': 'curl --fail-with-body --version', openssl: 'openssl version' },
    withPost: appended,
    withVectors: (program) =>
      appended(program, vectors.map((v) => `sign ${fields(v).map(quoted).join(' ')}`).join('\n')),
  },
  {
    heading: 'TypeScript, no dependency',
    language: 'ts',
    needs: {},
    withPost: appended,
    withVectors: (program) =>
      appended(
        program,
        vectors
          .map(({ secret, timestamp, method, target, body, on_behalf_of, idempotency_key }) => {
            const call = { method, target, body, onBehalfOf: on_behalf_of, idempotencyKey: idempotency_key }
            return `console.log(sign(${JSON.stringify(secret)}, ${timestamp}, ${JSON.stringify(call)}))`
          })
          .join('\n'),
      ),
  },
  { heading: 'TypeScript, with @attestry/sdk', language: 'ts', needs: {}, withPost: appended },
  {
    heading: 'Python 3',
    language: 'python',
    needs: { 'Python 3.6': 'python3 -c "import sys; sys.exit(sys.version_info < (3, 6))"' },
    withPost: appended,
    withVectors: (program) =>
      appended(
        program,
        vectors
          .map(({ secret, timestamp, method, target, on_behalf_of, idempotency_key, body }) => {
            const texts = [method, target, on_behalf_of, idempotency_key].map(escaped).join(', ')
            return `print(sign(${escaped(secret)}, ${timestamp}, ${texts}, ${escaped(body)}.encode()))`
          })
          .join('\n'),
      ),
  },
  {
    heading: 'Java 17',
    language: 'java',
    needs: { 'JDK 17': 'java --list-modules | grep -E "^jdk.compiler@(1[7-9]|[2-9][0-9])"' },
    withPost: (program, post) =>
      program.replace(/(static void main.*?)(\n {4}\})/s, (_, main, end) => `${main}\n${post}${end}`),
    // The first class of a file is the one that runs.
    withVectors: (program) =>
      program.replace(/^public class/m, (start) => {
        const lines = vectors.map((v) => {
          const [secret, timestamp, ...rest] = fields(v)
          return `System.out.println(FirstCall.sign(${escaped(secret!)}, ${timestamp}L, ${rest.map(escaped).join(', ')}));`
        })
        return `class Vectors {\n  public static void main(String[] args) throws Exception {\n${lines.join('\n')}\n  }\n}\n\n${start}`
      }),
  },
]

/** In the order in which `sign` takes them in bash and Java. */
function fields(v: Vector): string[] {
  return [v.secret, String(v.timestamp), v.method, v.target, v.on_behalf_of, v.idempotency_key, v.body]
}

function quoted(text: string): string {
  return `'${text.replaceAll("'", `'\\''`)}'`
}

/** A literal of Python and Java alike, whatever encoding they read their source in. */
function escaped(text: string): string {
  return JSON.stringify(text).replace(/[^ -~]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`)
}

/** The fenced blocks below a heading of the guide, up to the next one. */
function blocks(heading: string): { language: string; text: string }[] {
  const start = guide.indexOf(`# ${heading}\n`)
  assert.ok(start >= 0, `there is a heading ${heading}`)
  const rest = guide.slice(start + heading.length + 2)
  const fences = [...rest.slice(0, endOfSection(rest)).matchAll(/^```(\w+)\n(.*?)^```$/gms)]
  return fences.map(([, language, text]) => ({ language: language!, text: text! }))
}

/** Lines that start with # are headings only outside of a block. */
function endOfSection(text: string): number {
  let fenced = false
  let at = 0
  for (const line of text.split('\n')) {
    if (line.startsWith('```')) fenced = !fenced
    else if (!fenced && line.startsWith('#')) return at
    at += line.length + 1
  }
  return at
}

function read({ heading, language }: Example) {
  const found = blocks(heading)
  const [program, post] = found.filter((block) => block.language === language).map(({ text }) => text)
  const command = found.find((block) => block.language === 'sh')?.text.trim()
  assert.ok(program && post && command, `${heading} has a program, a POST and a command`)
  return { program, post, command, file: command.split(' ').at(-1)! }
}

function missing({ needs }: Example): string | false {
  const absent = Object.keys(needs).filter((name) => spawnSync('sh', ['-c', needs[name]!]).status !== 0)
  return absent.length > 0 && `this machine lacks ${absent.join(', ')}`
}

let folder: string
before(() => {
  folder = mkdtempSync(join(tmpdir(), 'attestry-examples-'))
  buildSdk(folder)
})
after(() => rmSync(folder, { recursive: true, force: true }))

interface Outcome {
  code: number | null
  out: string
  err: string
}

/** Runs a program by the guide's own command, in a folder of its own. */
async function run(t: TestContext, file: string, text: string, command: string, env: Record<string, string>) {
  const place = mkdtempSync(join(folder, 'run-'))
  writeFileSync(join(place, file), text)
  const path = [dirname(process.execPath), process.env.PATH].join(delimiter)
  const child = spawn('sh', ['-c', command], {
    cwd: place,
    env: { ...withoutProxies(process.env), PATH: path, ...env },
    signal: t.signal,
  })
  const outcome: Outcome = { code: null, out: '', err: '' }
  child.stdout.on('data', (chunk) => {
    outcome.out += chunk
  })
  child.stderr.on('data', (chunk) => {
    outcome.err += chunk
  })
  const { promise, resolve, reject } = Promise.withResolvers<Outcome>()
  child.on('error', reject)
  child.on('close', (code) => resolve({ ...outcome, code }))
  return promise
}

function withoutProxies(env: NodeJS.ProcessEnv): NodeJS.ProcessEnv {
  return Object.fromEntries(Object.entries(env).filter(([name]) => !/_proxy$/i.test(name)))
}

function environment(url: string, { keyId, secret }: TestKey) {
  return { ATTESTRY_URL: url, ATTESTRY_KEY_ID: keyId, ATTESTRY_SECRET: secret }
}

/** Where the server has no skill requests of its own, one that answers as the guide needs it, behind the real front door. */
function addSkillRequests(app: App, context: Context): void {
  app.register(
    async (scope) => {
      if (scope.hasRoute({ method: 'POST', url: `${PARTNER_BASE}/skill-requests` })) return
      const partner = scope as App
      guardPartnerRoutes(partner, context)
      partner.post(
        '/skill-requests',
        {
          config: { scope: 'skills:request', limit: 'skillRequests', idempotent: 'optional' },
          schema: { body: Type.Object({ name: Type.String() }, { additionalProperties: false }) },
        },
        (request, reply) =>
          perform(context, request, reply, async (_tx, { onBehalfOf, idempotencyKey }) => {
            assert.ok(onBehalfOf && idempotencyKey)
            return { status: 201, body: { success: true, message: 'Requested', data: request.body } }
          }),
      )
    },
    { prefix: PARTNER_BASE },
  )
}

/** The JSON answers in what a program printed, one after the other. */
function answers(out: string): any[] {
  return out
    .replaceAll(/\}\s*\{(?="success"|\s*"success")/g, '}\u0000{')
    .split('\u0000')
    .map((text) => JSON.parse(text))
}

test('the examples of the guide work', { timeout: 300_000 }, async (t) => {
  const { url, given } = await startApp(t, { clock: new TestClock(Date.now()), extend: addSkillRequests })
  const { orgId } = await given.org()
  // A key for each run: the limits of a TEST key are low, and the server's clock stands still.
  const testKey = () => given.key(orgId, { mode: 'test' })

  for (const example of examples) {
    const skip = missing(example)
    const { program, post, command, file } = read(example)

    await t.test(`${example.heading}: a GET and a POST`, { skip }, async (t) => {
      const outcome = await run(t, file, example.withPost(program, post), command, environment(url, await testKey()))
      assert.equal(outcome.code, 0, outcome.err)
      const [shifts, requested] = answers(outcome.out)
      assert.equal(shifts.success, true)
      assert.equal(shifts.message, 'Shifts')
      assert.ok(shifts.data.items.some(({ value }: { value: string }) => value === 'night'))
      assert.equal(requested.success, true)
      assert.equal(requested.data.name, 'Bamboo scaffolding')
    })

    await t.test(`${example.heading}: an error ends the program and is shown`, { skip }, async (t) => {
      const key = { ...(await testKey()), secret: 'VFN_SK_wrong' }
      const outcome = await run(t, file, program, command, environment(url, key))
      assert.notEqual(outcome.code, 0)
      assert.match(outcome.out + outcome.err, /UNAUTHORIZED/)
    })

    if (!example.withVectors) continue
    await t.test(`${example.heading}: sign agrees with every vector`, { skip }, async (t) => {
      const outcome = await run(t, file, example.withVectors!(program), command, environment(url, await testKey()))
      assert.equal(outcome.code, 0, outcome.err)
      assert.deepEqual(
        outcome.out.match(/v1=\S+/g),
        vectors.map(({ signature }) => signature),
      )
    })
  }
})

test('the TypeScript of the guide has no type errors', (t) => {
  const place = mkdtempSync(join(folder, 'types-'))
  const files = examples
    .filter(({ language }) => language === 'ts')
    .map((example) => {
      const { program, post, file } = read(example)
      writeFileSync(join(place, file), example.withPost(program, post))
      return file
    })
  const types = join(root, 'node_modules', '@types')
  const options = ['--noEmit', '--strict', '--target', 'es2024', '--module', 'nodenext', '--allowImportingTsExtensions']
  const compiler = join(root, 'node_modules', '.bin', 'tsc')
  const checked = spawnSync(compiler, [...options, '--typeRoots', types, '--types', 'node', ...files], {
    cwd: place,
    encoding: 'utf8',
  })
  t.diagnostic(files.join(', '))
  assert.equal(checked.status, 0, checked.stdout + checked.stderr)
})
