import { spawnSync } from 'node:child_process'
import { EMBEDDED_TESTS, verificationSteps } from './verification-steps.ts'

// Runs the full verification of CI and stops at the first failure.
//   npm run verify                               runs all steps
//   npm run verify -- --without-embedded-tests   skips the tests that .ci/run has already run with npm test

const skippedStep = process.argv.includes('--without-embedded-tests') ? EMBEDDED_TESTS : undefined

for (const { name, args, env } of verificationSteps.filter(({ name }) => name !== skippedStep)) {
  const startedAt = performance.now()
  console.log(`\n=== ${name}`)
  const { status } = spawnSync(process.execPath, args, { stdio: 'inherit', env: { ...process.env, ...env } })
  if (status !== 0) {
    console.error(`\n=== ${name}: failed`)
    process.exit(status ?? 1)
  }
  console.log(`=== ${name}: passed in ${((performance.now() - startedAt) / 1000).toFixed(1)} s`)
}
