import { spawn } from 'node:child_process'
import { globSync } from 'node:fs'
import { buildPages } from '../server/pages/build.ts'
import { prepareTemplate, startCluster } from '../test/cluster.ts'
import { startExternal } from '../test/external.ts'

// Starts a PostgreSQL for the tests, runs them all (or the files named), and stops it again.
//   npm test                          everything, on the embedded PostgreSQL
//   npm test -- server/access         the tests whose path contains this
//   npm test -- --external            everything, with servers on an external PostgreSQL over TCP, with a password
const external = process.argv.includes('--external')
const wanted = process.argv.slice(2).filter((argument) => !argument.startsWith('--'))
const files = globSync('{server,cli,sdk,test,scripts,web}/**/*.test.ts')
  .filter((file) => wanted.length === 0 || wanted.some((part) => file.includes(part)))
  .sort()
if (files.length === 0) {
  console.error(`no test file matches ${wanted.join(' ')}`)
  process.exit(1)
}

await buildPages()
const cluster = external ? await startExternal() : await startCluster()
let code = 1
try {
  await prepareTemplate(cluster.url)
  code = await run()
} finally {
  await cluster.stop()
}
process.exit(code)

function run(): Promise<number> {
  const child = spawn(process.execPath, ['--test', '--test-concurrency=2', '--test-timeout=300000', ...files], {
    stdio: 'inherit',
    env: { ...process.env, TEST_POSTGRES_URL: cluster.url, ...(external ? { TEST_EXTERNAL: '1' } : {}) },
  })
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, () => child.kill(signal))
  if (process.channel) process.on('disconnect', () => child.kill('SIGTERM'))
  return new Promise((resolve) => child.on('exit', (status) => resolve(status ?? 1)))
}
