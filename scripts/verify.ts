import { spawnSync } from 'node:child_process'

// What CI does; the first thing that fails ends it. CI has run the embedded tests already (npm test) and leaves them out.
const node = process.execPath
const steps: [name: string, command: string, args: string[]][] = [
  ['lint, format and import boundaries', 'node_modules/.bin/biome', ['ci', '--error-on-warnings', '.']],
  ['types', 'node_modules/.bin/tsc', ['--noEmit']],
  ['types of the pages', 'node_modules/.bin/tsc', ['--noEmit', '-p', 'web/tsconfig.json']],
  ['types of the tables', node, ['scripts/tables.ts', '--check']],
  ['question bank', node, ['scripts/question-bank.ts', '--check']],
  ['OpenAPI descriptions', node, ['scripts/openapi.ts', '--check']],
  ['tests on the embedded PostgreSQL', node, ['scripts/test.ts']],
  ['tests on an external PostgreSQL', node, ['scripts/test.ts', '--external']],
]

const skipped = process.argv.includes('--without-embedded-tests') ? ['tests on the embedded PostgreSQL'] : []

for (const [name, command, args] of steps.filter(([name]) => !skipped.includes(name))) {
  const started = Date.now()
  console.log(`\n=== ${name}`)
  const { status } = spawnSync(command, args, { stdio: 'inherit' })
  if (status !== 0) {
    console.error(`\n=== ${name}: failed`)
    process.exit(status ?? 1)
  }
  console.log(`=== ${name}: ${((Date.now() - started) / 1000).toFixed(1)} s`)
}
