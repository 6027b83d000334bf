import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { findFreePort } from '../support/free-port.ts'
import { orgIn, type PageRun, pageTests, type Site } from './page-runner.ts'

const tests = pageTests({
  'docs/guides/connect-ashby.md': (site) => connectAts(site, 'ashby'),
  'docs/guides/connect-greenhouse.md': (site) => connectAts(site, 'greenhouse'),
  'docs/guides/connect-workable.md': (site) => connectAts(site, 'workable'),
  'docs/guides/connect-kombo.md': (site) => connectAts(site, 'kombo', 'Enter the address in Kombo'),
})

for (const [name, run] of tests) test(name, run)

/** The guide of an ATS: the placeholders are the connection and the order of the simulation at the start. */
async function connectAts(site: Site, name: string, connectOutput = 'VAT_LIVE_'): Promise<PageRun> {
  for (const file of ['ashby-key.txt', 'workable-token.txt', 'kombo-key.txt'])
    writeFileSync(join(site.folder, file), 'token-of-the-test\n')
  const readId = (command: string, field: string) =>
    `$(npx attestry ats ${command} --org ${site.orgId} --json | sed -n 's/.*"${field}": "\\(.*\\)".*/\\1/p' | head -n 1)`
  return {
    replace: {
      'simulate ': `simulate --org ${site.orgId} --url ${site.app.url} --port ${await findFreePort()} `,
      ...orgIn(site),
      'AO_…': readId('orders', 'order_id'),
      '--revoke VAT_LIVE_…': '--help',
      'AC_…': readId('list', 'connection_id'),
    },
    output: new RegExp(`${name}.*${connectOutput}.*Disconnected AC_`, 'is'),
  }
}
