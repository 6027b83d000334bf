import { spawn } from 'node:child_process'
import { availableParallelism } from 'node:os'
import { fileURLToPath } from 'node:url'

// Runs every check that needs no database, several at a time, and prints one line per step; the output of a failed step is
// printed in full.
//   npm run check                     all steps
//   npm run check -- types lint       the steps whose name contains one of these words

interface Step {
  name: string
  /** The script to run with Node, then its arguments. */
  command: string[]
}

const TSC = 'node_modules/typescript/bin/tsc'
const BIOME = 'node_modules/@biomejs/biome/bin/biome'

// The slowest steps are first, so that only short ones run at the end.
const steps: Step[] = [
  { name: 'types: server, command line, tests, benchmarks', command: [TSC, '--noEmit'] },
  { name: 'question bank', command: ['scripts/question-bank.ts', '--check'] },
  { name: 'dead code', command: ['node_modules/knip/bin/knip.js'] },
  { name: 'lint and format', command: [BIOME, 'ci', '--error-on-warnings', '--colors=off', '.'] },
  { name: 'OpenAPI: descriptions match the routes', command: ['scripts/openapi.ts', '--check'] },
  { name: 'OpenAPI: lint', command: ['scripts/lint-openapi.ts'] },
  { name: 'OpenAPI: generated types match', command: ['scripts/api-types.ts', '--check'] },
  { name: 'SDKs: generated files match', command: ['scripts/sdks.ts', '--check'] },
  { name: 'Postman and Bruno: collections match', command: ['scripts/collections.ts', '--check'] },
  { name: 'import boundaries', command: ['scripts/boundaries.ts'] },
  { name: 'types: examples', command: [TSC, '--noEmit', '-p', 'examples/tsconfig.json'] },
  { name: 'types: pages', command: [TSC, '--noEmit', '-p', 'web/tsconfig.json'] },
  { name: 'packages: sources, licences and SBOM', command: ['scripts/sbom.ts', '--check'] },
  { name: 'tables: types match the migrations', command: ['scripts/tables.ts', '--check'] },
]

const root = fileURLToPath(new URL('..', import.meta.url))
const words = process.argv.slice(2).map((word) => word.toLowerCase())
const selectedSteps = steps.filter(
  ({ name }) => words.length === 0 || words.some((word) => name.toLowerCase().includes(word)),
)
if (selectedSteps.length === 0) {
  console.error(`No step matches "${words.join(' ')}". Steps: ${steps.map(({ name }) => name).join('; ')}.`)
  process.exit(1)
}

const startedAt = performance.now()
const failedSteps: string[] = []
const waitingSteps = [...selectedSteps]
await Promise.all(
  Array.from({ length: Math.min(availableParallelism(), 4) }, async () => {
    for (let step = waitingSteps.shift(); step; step = waitingSteps.shift()) await runStep(step)
  }),
)
console.log(
  failedSteps.length > 0
    ? `${failedSteps.length} of ${selectedSteps.length} checks failed (${failedSteps.join('; ')}) in ${secondsSince(startedAt)}`
    : `${selectedSteps.length} ${selectedSteps.length === 1 ? 'check' : 'checks'} passed in ${secondsSince(startedAt)}`,
)
process.exitCode = failedSteps.length > 0 ? 1 : 0

async function runStep({ name, command }: Step): Promise<void> {
  const stepStartedAt = performance.now()
  const { code, output } = await runCommand(command)
  const passed = code === 0
  console.log(`${passed ? '✓' : '✗'} ${name.padEnd(48)} ${secondsSince(stepStartedAt).padStart(7)}`)
  if (passed) return
  failedSteps.push(name)
  console.log(`\n${output.trim() || `exited with code ${code} and no output`}\n`)
}

function runCommand(command: string[]): Promise<{ code: number | string; output: string }> {
  return new Promise((resolve) => {
    const child = spawn(process.execPath, command, { cwd: root, stdio: ['ignore', 'pipe', 'pipe'] })
    const chunks: Buffer[] = []
    for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk: Buffer) => chunks.push(chunk))
    child.on('close', (code, signal) =>
      resolve({ code: code ?? signal ?? 1, output: Buffer.concat(chunks).toString('utf8') }),
    )
  })
}

function secondsSince(startTime: number): string {
  return `${((performance.now() - startTime) / 1000).toFixed(1)} s`
}
