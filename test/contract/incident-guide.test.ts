import { test } from 'node:test'
import { issueCredential } from '../support/issued-credentials.ts'
import { verificationCalls } from '../support/verification.ts'
import { createKey, orgIn, pageTests } from './page-runner.ts'

// A test file of its own, because the guide switches the service off.
const tests = pageTests({
  'docs/guides/respond-to-an-incident.md': async (site) => {
    const { app, orgId } = site
    await issueCredential(verificationCalls(app, orgId, await app.fixtures.createSessionKey(orgId)))
    const readJson = (command: string, field: string) =>
      `$(npx attestry ${command} --json | sed -n 's/.*"${field}": "*\\([^",]*\\).*/\\1/p' | head -n 1)`
    return {
      replace: {
        '1042:9f2c…': `${readJson('audit verify', 'position')}:${readJson('audit verify', 'hash')}`,
        'VFN_LIVE_…': (await createKey(site, 'live')).keyId,
        'CK_…': readJson(`credential keys list --org ${orgId}`, 'key_id'),
        ...orgIn(site),
      },
      before: ['npx attestry operator add asha@example.com', 'npx attestry operator add meera@example.com'],
      output: /is intact.*asha@example\.com/s,
    }
  },
})

for (const [name, run] of tests) test(name, run)
