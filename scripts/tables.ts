import { spawnSync } from 'node:child_process'
import { databaseUrl, prepareTemplate, startCluster, TEMPLATE } from '../test/runner/cluster.ts'

// Writes server/platform/database/tables.ts from a freshly migrated database; with --check, fails where the file differs from it.
const check = process.argv.includes('--check')
const cluster = await startCluster()
try {
  await prepareTemplate(cluster.url)
  const { status } = spawnSync(
    process.execPath,
    [
      'node_modules/kysely-codegen/dist/cli/bin.js',
      '--dialect=postgres',
      `--url=${databaseUrl(cluster.url, TEMPLATE)}`,
      '--out-file=server/platform/database/tables.ts',
      '--include-pattern=public.*',
      '--type-mapping={"int8":"number","bytea":"Buffer"}',
      ...(check ? ['--verify'] : []),
    ],
    { stdio: 'inherit' },
  )
  if (status !== 0) {
    console.error(
      check
        ? 'server/platform/database/tables.ts differs from the migrations: run npm run tables and commit it'
        : 'the types could not be generated',
    )
    process.exitCode = 1
  }
} finally {
  await cluster.stop()
}
