import assert from 'node:assert/strict'
import { spawn, spawnSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, type TestContext, test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { startApp } from '../support/app.ts'
import type { TestKey } from '../support/call.ts'
import { oncePerFile } from '../support/cleanup.ts'
import { TestClock } from '../support/clock.ts'
import { nodeVersions } from '../support/node-versions.ts'
import { buildSdk } from '../support/sdk-package.ts'
import { assertBlocksRun } from './code-blocks.ts'

const root = fileURLToPath(new URL('../../', import.meta.url))
const guide = readFileSync(join(root, 'docs/guides/sign-your-first-request.md'), 'utf8')

interface SignatureVector {
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

const { requests: vectors } = JSON.parse(readFileSync(join(root, 'sdks/vectors.json'), 'utf8')) as {
  requests: SignatureVector[]
}

/** A section of the guide with a complete program, the command that runs it, and code that adds a POST request. */
interface LanguageExample {
  heading: string
  language: string
  /** Programs that must be installed, each with a command that succeeds if the program is installed. */
  needs: Record<string, string>
  withPost(program: string, post: string): string
  /** Adds code to the program that prints the signature of every test vector, one per line. */
  withVectors?(program: string): string
}

const appendLines = (program: string, addedLines: string) => `${program}\n${addedLines}`

const examples: LanguageExample[] = [
  {
    heading: 'Bash: curl and openssl',
    language: 'bash',
    needs: { bash: 'bash --version', 'curl 7.76': 'curl --fail-with-body --version', openssl: 'openssl version' },
    withPost: appendLines,
    withVectors: (program) =>
      appendLines(
        program,
        vectors.map((vector) => `sign ${signParameters(vector).map(quoteForShell).join(' ')}`).join('\n'),
      ),
  },
  {
    heading: 'JavaScript, no dependency',
    language: 'js',
    needs: {},
    withPost: appendLines,
    withVectors: (program) =>
      appendLines(
        program,
        vectors
          .map(({ secret, timestamp, method, target, body, on_behalf_of, idempotency_key }) => {
            const call = { method, target, body, onBehalfOf: on_behalf_of, idempotencyKey: idempotency_key }
            return `console.log(sign(${JSON.stringify(secret)}, ${timestamp}, ${JSON.stringify(call)}))`
          })
          .join('\n'),
      ),
  },
  { heading: 'JavaScript, with @attestry/sdk', language: 'js', needs: {}, withPost: appendLines },
  {
    heading: 'Python 3',
    language: 'python',
    needs: { 'Python 3.6': 'python3 -c "import sys; sys.exit(sys.version_info < (3, 6))"' },
    withPost: appendLines,
    withVectors: (program) =>
      appendLines(
        program,
        vectors
          .map(({ secret, timestamp, method, target, on_behalf_of, idempotency_key, body }) => {
            const textArguments = [method, target, on_behalf_of, idempotency_key].map(stringLiteral).join(', ')
            // Python has no surrogate pairs in literals.
            const bodyText = `${stringLiteral(body)}.encode("utf-16", "surrogatepass").decode("utf-16")`
            return `print(sign(${stringLiteral(secret)}, ${timestamp}, ${textArguments}, ${bodyText}.encode()))`
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
    // Java runs the first class of a file, so the class with the vectors is inserted before the program.
    withVectors: (program) =>
      program.replace(/^public class/m, (start) => {
        const printStatements = vectors.map((vector) => {
          const [secret, timestamp, ...otherFields] = signParameters(vector)
          return `System.out.println(FirstCall.sign(${stringLiteral(secret!)}, ${timestamp}L, ${otherFields.map(stringLiteral).join(', ')}));`
        })
        return `class Vectors {\n  public static void main(String[] args) throws Exception {\n${printStatements.join('\n')}\n  }\n}\n\n${start}`
      }),
  },
]

/** Returns the parameters of `sign` in bash and Java, in order. */
function signParameters(vector: SignatureVector): string[] {
  return [
    vector.secret,
    String(vector.timestamp),
    vector.method,
    vector.target,
    vector.on_behalf_of,
    vector.idempotency_key,
    vector.body,
  ]
}

function quoteForShell(text: string): string {
  return `'${text.replaceAll("'", `'\\''`)}'`
}

/** Returns a string literal that is valid in Python and Java with any source encoding. */
function stringLiteral(text: string): string {
  return JSON.stringify(text).replace(/[^ -~]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`)
}

/** Returns the fenced code blocks under a heading of the guide. */
function codeBlocks(heading: string): { language: string; text: string }[] {
  const start = guide.indexOf(`# ${heading}\n`)
  assert.ok(start >= 0, `heading ${heading} exists`)
  const followingText = guide.slice(start + heading.length + 2)
  const fences = [...followingText.slice(0, findSectionEnd(followingText)).matchAll(/^```(\w+)\n(.*?)^```$/gms)]
  return fences.map(([, language, text]) => ({ language: language!, text: text! }))
}

/** Returns the index of the next heading: a line that starts with # outside of a code block. */
function findSectionEnd(text: string): number {
  let fenced = false
  let position = 0
  for (const line of text.split('\n')) {
    if (line.startsWith('```')) fenced = !fenced
    else if (!fenced && line.startsWith('#')) return position
    position += line.length + 1
  }
  return position
}

function readExample({ heading, language }: LanguageExample) {
  const sectionBlocks = codeBlocks(heading)
  const [program, post] = sectionBlocks.filter((block) => block.language === language).map(({ text }) => text)
  const command = sectionBlocks.find((block) => block.language === 'sh')?.text.trim()
  assert.ok(program && post && command, `${heading} has a program, a POST and a command`)
  return { program, post, command, file: command.split(' ').at(-1)! }
}

function findMissingPrograms({ needs }: LanguageExample): string | false {
  const missingPrograms = Object.keys(needs).filter((name) => spawnSync('sh', ['-c', needs[name]!]).status !== 0)
  return missingPrograms.length > 0 && `not installed: ${missingPrograms.join(', ')}`
}

let examplesFolder: string
before(() => {
  examplesFolder = mkdtempSync(join(tmpdir(), 'attestry-examples-'))
  buildSdk(examplesFolder)
})
after(() => rmSync(examplesFolder, { recursive: true, force: true }))

interface ProgramOutcome {
  code: number | null
  out: string
  err: string
}

/** Runs a program in a new folder with the demo key, with the commands that the guide shows. */
async function runProgram(
  t: TestContext,
  file: string,
  programText: string,
  command: string,
  { url, keyId, secret }: TestKey & { url: string },
  path = nodeVersions[0]!.path,
) {
  const runFolder = mkdtempSync(join(examplesFolder, 'run-'))
  writeFileSync(join(runFolder, file), programText)
  mkdirSync(join(runFolder, '.attestry'))
  const demoKeys = { key_id: keyId, secret }
  writeFileSync(join(runFolder, '.attestry/demo-keys.json'), JSON.stringify(demoKeys, null, 2))
  const script = [readVariableAssignments().replace('http://127.0.0.1:8080', url), command].join('\n')
  const child = spawn('sh', ['-c', script], {
    cwd: runFolder,
    env: { ...withoutProxies(process.env), PATH: path },
    signal: t.signal,
  })
  const outcome: ProgramOutcome = { code: null, out: '', err: '' }
  child.stdout.on('data', (chunk) => {
    outcome.out += chunk
  })
  child.stderr.on('data', (chunk) => {
    outcome.err += chunk
  })
  const { promise, resolve, reject } = Promise.withResolvers<ProgramOutcome>()
  child.on('error', reject)
  child.on('close', (code) => resolve({ ...outcome, code }))
  return promise
}

function withoutProxies(env: NodeJS.ProcessEnv): NodeJS.ProcessEnv {
  return Object.fromEntries(Object.entries(env).filter(([name]) => !/_proxy$/i.test(name)))
}

/** Returns the block that sets the variables for the examples. */
function readVariableAssignments(): string {
  const [block] = codeBlocks('Get a TEST key').filter(({ language }) => language === 'sh')
  return block!.text
}

/** Parses the JSON responses that a program printed. */
function parsePrintedResponses(out: string): any[] {
  return out
    .replaceAll(/\}\s*\{(?="success"|\s*"success")/g, '}\u0000{')
    .split('\u0000')
    .map((text) => JSON.parse(text))
}

/** Each run needs its own key: the rate limits of a TEST key are low, and the clock of the server does not advance. */
const startShared = oncePerFile(async (t) => {
  const { url, fixtures } = await startApp(t, { clock: new TestClock(Date.now()) })
  const { orgId } = await fixtures.createOrg()
  return { url, testKey: () => fixtures.createPartnerKey(orgId, { mode: 'test' }) }
})

for (const example of examples) {
  const skipReason = findMissingPrograms(example)

  for (const { name, path } of example.language === 'js' ? nodeVersions : nodeVersions.slice(0, 1))
    test(`${example.heading}: the example sends a GET and a POST request, ${name}`, { skip: skipReason }, async (t) => {
      const { url, testKey } = await startShared()
      const { program, post, command, file } = readExample(example)
      const outcome = await runProgram(
        t,
        file,
        example.withPost(program, post),
        command,
        { url, ...(await testKey()) },
        path,
      )
      assert.equal(outcome.code, 0, outcome.err)
      const [shifts, requested] = parsePrintedResponses(outcome.out)
      assert.equal(shifts.success, true)
      assert.equal(shifts.message, 'Shifts')
      assert.ok(shifts.data.items.some(({ value }: { value: string }) => value === 'night'))
      assert.equal(requested.success, true)
      assert.equal(requested.data.name, 'Bamboo scaffolding')
    })

  test(`${example.heading}: an error ends the example and is printed`, { skip: skipReason }, async (t) => {
    const { url, testKey } = await startShared()
    const { program, command, file } = readExample(example)
    const key = { ...(await testKey()), secret: 'VFN_SK_wrong' }
    const outcome = await runProgram(t, file, program, command, { url, ...key })
    assert.notEqual(outcome.code, 0)
    assert.match(outcome.out + outcome.err, /UNAUTHORIZED/)
  })

  if (!example.withVectors) continue
  test(`${example.heading}: the example signs all test vectors correctly`, { skip: skipReason }, async (t) => {
    const { url, testKey } = await startShared()
    const { program, command, file } = readExample(example)
    const outcome = await runProgram(t, file, example.withVectors!(program), command, { url, ...(await testKey()) })
    assert.equal(outcome.code, 0, outcome.err)
    assert.deepEqual(
      outcome.out.match(/v1=\S+/g),
      vectors.map(({ signature }) => signature),
    )
  })
}

test('the examples contain every block of the guide', () => {
  const blocks = examples.flatMap((example) => {
    const { program, post, command } = readExample(example)
    return [program, post, `${command}\n`]
  })
  assertBlocksRun('docs/guides/sign-your-first-request.md', [readVariableAssignments(), ...blocks])
})
